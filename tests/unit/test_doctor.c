/* SPDX-License-Identifier: MIT */
/* smeff doctor: facts from made-up machines, the remedy for each kind of trouble, exit codes, and
 * what is printed. */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder.h"
#include "support.h"

#include "cmd/doctor.h"

/* ---- a made-up machine ---- */

static struct doctor_facts facts;
static struct doctor_findings f;
static struct doctor_gpu gpus[2];
static struct doctor_remedy remedy;

static int make_machine(void **state)
{
    memset(&facts, 0, sizeof facts);
    memset(&f, 0, sizeof f);
    memset(gpus, 0, sizeof gpus);
    return make_folder(state);
}

static const char *make_folders_of(const char *name)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s%s", folder, name);
    for (char *p = path + strlen(folder) + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        mkdir(path, 0755);
        *p = '/';
    }
    return path;
}

static void file(const char *name, const char *text)
{
    FILE *out = fopen(make_folders_of(name), "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static void process(int pid, int parent, const char *name, const char *exe)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    snprintf(text, sizeof text, "%d (%s) S %d 1 1 0 -1 4194304\n", pid, name, parent);
    file(path, text);
    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    if (exe)
        assert_int_equal(symlink(exe, make_folders_of(path)), 0);
}

static void read_facts(int self)
{
    const struct pm_places places = {folder, NULL, NULL, NULL};
    doctor_facts_read(&places, self, &facts);
}

/* ---- facts ---- */

static void an_empty_machine(void **state)
{
    (void)state;
    read_facts(1);
    assert_string_equal(facts.driver, "");
    assert_string_equal(facts.container, "");
    assert_string_equal(facts.release.id, "");
    assert_int_equal(facts.admin_only, -1);
    assert_int_equal(facts.open_module, -1);
    assert_int_equal(facts.nodes, NODES_ABSENT);
    assert_false(facts.module || facts.wsl || facts.rights.known || facts.cuda_packages);
    assert_int_equal(facts.pci_gpus + facts.folders.n + facts.n_holders, 0);
}

static void the_driver(void **state)
{
    (void)state;
    file("/proc/driver/nvidia/version",
         "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.03  Release Build  "
         "(dvs-builder@x)  Tue\nGCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n");
    file("/proc/driver/nvidia/params", "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n");
    read_facts(1);
    assert_string_equal(facts.driver, "580.159.03");
    assert_int_equal(doctor_driver_major(facts.driver), 580);
    assert_int_equal(facts.open_module, 1);
    assert_int_equal(facts.admin_only, 1);
    file("/proc/driver/nvidia/version",
         "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC\n");
    file("/proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
    read_facts(1);
    assert_string_equal(facts.driver, "550.54.15");
    assert_int_equal(facts.open_module, 0);
    assert_int_equal(facts.admin_only, 0);
    file("/proc/driver/nvidia/version", "garbage\n\xff\n");
    file("/proc/driver/nvidia/params", "RmProfilingAdminOnly: x\n");
    read_facts(1);
    assert_true(facts.module);
    assert_string_equal(facts.driver, "");
    assert_int_equal(facts.admin_only, -1);
    assert_int_equal(doctor_driver_major(""), 0);
    assert_int_equal(doctor_driver_major("x1.2"), 0);
}

static void distributions(void **state)
{
    (void)state;
    file("/etc/os-release", "PRETTY_NAME=\"Ubuntu 24.04.1 LTS\"\nNAME=\"Ubuntu\"\n"
                            "VERSION_ID='24.04'\nID=ubuntu\nID_LIKE=debian\n");
    read_facts(1);
    assert_string_equal(facts.release.id, "ubuntu");
    assert_string_equal(facts.release.version, "24.04");
    assert_string_equal(facts.release.name, "Ubuntu 24.04.1 LTS");
    assert_true(os_release_is(&facts.release, "ubuntu"));
    assert_true(os_release_is(&facts.release, "debian"));
    assert_false(os_release_is(&facts.release, "rhel") || os_release_is(&facts.release, "deb"));
    file("/etc/os-release", "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"");
    read_facts(1);
    assert_true(os_release_is(&facts.release, "rocky") && os_release_is(&facts.release, "centos"));
    assert_string_equal(facts.release.name, "");
}

static void status_file(const char *uid, const char *capabilities)
{
    char text[512];
    snprintf(text, sizeof text,
             "Name:\tsmeff\nUid:\t1000\t%s\t1000\t1000\nGid:\t9\t9\t9\t9\n"
             "CapInh:\t000001ffffffffff\nCapPrm:\t%s\nCapEff:\t%s\nCapBnd:\t000001ffffffffff\n",
             uid, capabilities, capabilities);
    file("/proc/self/status", text);
}

static void rights(void **state)
{
    (void)state;
    status_file("1000", "0000000000000000");
    file("/proc/self/uid_map", "         0          0 4294967295\n");
    file("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
    read_facts(1);
    assert_true(facts.rights.known);
    assert_int_equal(facts.rights.uid, 1000);
    assert_false(os_can(&facts.rights, OS_CAP_PERFMON));
    assert_false(facts.rights.user_namespace);
    assert_int_equal(facts.rights.kernel[0], 6);
    assert_int_equal(facts.rights.kernel[1], 1);
    status_file("0", "0000004000000000"); /* effective user, CAP_PERFMON alone */
    file("/proc/self/uid_map", "         0       1000          1\n");
    read_facts(1);
    assert_int_equal(facts.rights.uid, 0);
    assert_true(os_can(&facts.rights, OS_CAP_PERFMON));
    assert_false(os_can(&facts.rights, OS_CAP_SYS_ADMIN));
    assert_true(facts.rights.user_namespace);
    status_file("0", "0000000000200000");
    read_facts(1);
    assert_true(os_can(&facts.rights, OS_CAP_SYS_ADMIN));
    file("/proc/self/status", "Uid:\n");
    read_facts(1);
    assert_false(facts.rights.known || os_can(&facts.rights, OS_CAP_SYS_ADMIN));
}

static void containers(void **state)
{
    (void)state;
    static const struct {
        const char *file, *text, *name;
    } cases[] = {
        {"/.dockerenv", "", "docker"},
        {"/run/.containerenv", "", "podman"},
        {"/proc/self/cgroup", "0::/system.slice/docker-0123.scope\n", "docker"},
        {"/proc/self/cgroup", "0::/user.slice/libpod-0123.scope\n", "podman"},
        {"/proc/self/cgroup", "0::/kubepods.slice/kubepods-burstable.slice\n", "kubernetes"},
        {"/proc/self/cgroup", "12:cpu:/lxc/web\n0::/\n", "lxc"},
        {"/var/run/secrets/kubernetes.io/x", "", "kubernetes"},
    };
    file("/proc/self/cgroup", "0::/user.slice/user-1000.slice/session-2.scope\n");
    read_facts(1);
    assert_string_equal(facts.container, "");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        file(cases[i].file, cases[i].text);
        read_facts(1);
        assert_string_equal(facts.container, cases[i].name);
    }
}

static void the_bus_and_the_device_files(void **state)
{
    (void)state;
    file("/sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
    file("/sys/bus/pci/devices/0000:01:00.0/class", "0x030000\n"); /* VGA */
    file("/sys/bus/pci/devices/0000:02:00.0/vendor", "0x10de\n");
    file("/sys/bus/pci/devices/0000:02:00.0/class", "0x030200\n"); /* 3D */
    file("/sys/bus/pci/devices/0000:01:00.1/vendor", "0x10de\n");
    file("/sys/bus/pci/devices/0000:01:00.1/class", "0x040300\n"); /* its sound */
    file("/sys/bus/pci/devices/0000:00:02.0/vendor", "0x8086\n");
    file("/sys/bus/pci/devices/0000:00:02.0/class", "0x030000\n");
    file("/dev/nvidiactl", "");
    file("/dev/dxg", "");
    file("/etc/apt/sources.list.d/cuda-debian12.list", "");
    read_facts(1);
    assert_int_equal(facts.pci_gpus, 2);
    assert_int_equal(facts.nodes, NODES_OPEN);
    assert_true(facts.wsl && facts.cuda_packages);
}

/* Tried by an ordinary user, since root may open everything. */
static void device_files_of_a_group(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("not root, who alone can give files to a group: this case was not tried\n");
        skip();
    }
    file("/dev/nvidia0", "");
    file("/etc/group", "root:x:0:\nvideo:x:44:alice\nlong:x:440:\n");
    assert_int_equal(chown(make_folders_of("/dev/nvidia0"), 0, 44), 0);
    assert_int_equal(chmod(make_folders_of("/dev/nvidia0"), 0660), 0);
    assert_int_equal(chmod(folder, 0755), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (setgid(65534) || setuid(65534))
            _exit(2);
        read_facts(1);
        _exit(facts.nodes == NODES_DENIED && strcmp(facts.nodes_group, "video") == 0 ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void links_between_toolkits_are_one_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"libcupti.so.13", "libnvperf_host.so",
                                        "libnvperf_target.so"};
    for (size_t i = 0; i < 3; i++) {
        char path[128];
        snprintf(path, sizeof path, "/usr/local/cuda-13.0/targets/x86_64-linux/lib/%s", names[i]);
        file(path, "");
    }
    assert_int_equal(symlink("cuda-13.0/targets/x86_64-linux", make_folders_of("/usr/local/cuda")),
                     0);
    assert_int_equal(
        symlink("lib", make_folders_of("/usr/local/cuda-13.0/targets/x86_64-linux/lib64")), 0);
    read_facts(1);
    assert_int_equal(facts.folders.n, 1);
    assert_contains(facts.folders.list[0].path, "/usr/local/cuda/lib64");
}

static void who_may_hold_the_counters(void **state)
{
    (void)state;
    process(10, 1, "nsys", "/opt/nvidia/nsight-systems/2025.3/target-linux-x64/nsys");
    process(11, 10, "python3", "/usr/bin/python3.11");
    process(12, 1, "nv-hostengine", NULL); /* another user's: the program may not be read */
    process(13, 1, "dcgm-exporter", "/usr/bin/dcgm-exporter (deleted)");
    process(14, 1, "ncu", "/opt/ncu");
    process(20, 1, "smeff", "/usr/bin/smeff");
    process(21, 20, "smeff", "/usr/bin/smeff"); /* its sampler */
    process(30, 1, "smeff", "/usr/bin/smeff");  /* ourselves */
    process(31, 30, "smeff", "/usr/bin/smeff");
    process(40, 1, "vncu", "/usr/bin/vncu"); /* these only look like it */
    process(41, 1, "ncurses", "/usr/bin/ncurses");
    process(42, 1, "odd) S 7 (ncu", "/usr/bin/odd");
    file("/proc/43/stat", "garbage");
    file("/proc/self/stat", "30 (smeff) R 1 ");
    read_facts(30);
    assert_int_equal(facts.n_holders, 5);
    bool seen[64] = {false};
    for (size_t i = 0; i < facts.n_holders; i++) {
        assert_true(facts.holders[i].pid < 64);
        seen[facts.holders[i].pid] = true;
        if (facts.holders[i].pid == 13) {
            assert_string_equal(facts.holders[i].name, "dcgm-exporter");
            assert_contains(facts.holders[i].remedy, "dcgmi profile --pause");
        }
    }
    assert_true(seen[10] && seen[12] && seen[13] && seen[14] && seen[20]);
}

/* ---- the remedy ---- */

static void gpu(enum status pm, const char *reason, bool gpm)
{
    gpus[0] = (struct doctor_gpu){.name = "NVIDIA H200", .chip = "GH100"};
    gpus[0].backends[DOCTOR_PM] = (struct doctor_backend){.usable = !pm, .status = pm};
    snprintf(gpus[0].backends[DOCTOR_PM].reason, 400, "%s", reason);
    gpus[0].backends[DOCTOR_GPM] =
        (struct doctor_backend){.usable = gpm, .status = gpm ? OK : ERR_UNSUPPORTED};
    gpus[0].backends[DOCTOR_NVML].usable = true;
    memcpy(f.backends, gpus[0].backends, sizeof f.backends);
    f.gpus = gpus;
    f.n_gpus = 1;
    snprintf(f.cupti.path, sizeof f.cupti.path, "/x/libcupti.so.13");
    snprintf(f.cupti.from, sizeof f.cupti.from, "CUDA toolkit");
    f.cupti.version = 130001;
}

/* A plain user of Debian with this driver. */
static void machine(const char *driver, const char *id)
{
    memset(&facts, 0, sizeof facts);
    facts.container = "";
    facts.module = driver[0] != '\0';
    facts.admin_only = 1;
    facts.open_module = -1;
    facts.pci_gpus = 1;
    facts.nodes = NODES_OPEN;
    facts.rights = (struct os_rights){.known = true, .uid = 1000, .kernel = {6, 1}};
    snprintf(facts.driver, sizeof facts.driver, "%s", driver);
    snprintf(facts.release.id, sizeof facts.release.id, "%s", id);
}

static void choose(const char *kind)
{
    doctor_remedy_choose(&facts, &f, &remedy);
    if (strcmp(remedy.kind, kind) != 0)
        fail_msg("%s, not %s: %s", remedy.kind, kind, remedy.text);
    assert_true(remedy.text[0] != '\0');
}

static void has_command(size_t i, const char *part)
{
    if (i >= remedy.n_commands)
        fail_msg("%zu commands only", remedy.n_commands);
    assert_contains(remedy.commands[i], part);
}

static void nothing_to_do(void **state)
{
    (void)state;
    machine("580.159.03", "debian");
    gpu(OK, "", true);
    choose("none");
    assert_int_equal(remedy.n_commands, 0);
    assert_int_equal(doctor_exit_code(&f), EXIT_CODE_OK);
}

static void a_capability_where_the_driver_knows_it(void **state)
{
    (void)state;
    machine("565.57.01", "debian");
    gpu(ERR_PERMISSION, "SetConfig: no permission (INSUFFICIENT_PRIVILEGES, 35)", false);
    choose("capability");
    assert_int_equal(remedy.n_commands, 1);
    has_command(0, "--ambient-caps=+perfmon");
    assert_string_equal(remedy.caution, "");
    assert_int_equal(doctor_exit_code(&f), EXIT_CODE_NO_PERMISSION);
    /* with GPM there are counters all the same, and the remedy is for PM sampling */
    gpu(ERR_PERMISSION, "", true);
    choose("capability");
    assert_int_equal(doctor_exit_code(&f), EXIT_CODE_OK);
    /* the version as NVML tells it, where /proc does not */
    machine("", "debian");
    snprintf(f.driver, sizeof f.driver, "580.159.03");
    choose("capability");
}

static void the_module_option_where_it_must_be(void **state)
{
    (void)state;
    static const struct {
        const char *id, *initramfs;
    } cases[] = {
        {"debian", "update-initramfs -u"},
        {"ubuntu", "update-initramfs -u"},
        {"fedora", "dracut --regenerate-all -f"},
        {"rhel", "dracut --regenerate-all -f"},
        {"suse", "dracut -f"},
        {"arch", "mkinitcpio -P"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        machine("550.54.15", cases[i].id);
        gpu(ERR_PERMISSION, "", false);
        choose("module_option");
        assert_int_equal(remedy.n_commands, 3);
        has_command(0, "NVreg_RestrictProfilingToAdminUsers=0");
        has_command(0, "/etc/modprobe.d/");
        has_command(1, cases[i].initramfs);
        has_command(2, "reboot");
        assert_contains(remedy.caution, "every user");
    }
    /* Debian's own packages have another name for the module */
    machine("550.54.15", "debian");
    choose("module_option");
    has_command(0, "nvidia-current");
    machine("550.54.15", "nixos");
    choose("module_option");
    has_command(0, "boot.kernelParams");
    machine("550.54.15", "else");
    choose("module_option");
    assert_int_equal(remedy.n_commands, 0);
    assert_contains(remedy.text, "nvidia.NVreg_RestrictProfilingToAdminUsers=0");
}

/* It is there and was not enough; the kernel is too old for it; it does not count here. */
static void where_the_capability_does_not_help(void **state)
{
    (void)state;
    machine("580.159.03", "debian");
    gpu(ERR_PERMISSION, "", false);
    facts.rights.effective = UINT64_C(1) << OS_CAP_PERFMON;
    choose("module_option");
    machine("580.159.03", "debian");
    facts.rights.kernel[0] = 5;
    facts.rights.kernel[1] = 4;
    choose("module_option");
    machine("580.159.03", "debian");
    facts.rights.user_namespace = true;
    choose("module_option");
    /* an administrator is refused: nobody knows */
    machine("580.159.03", "debian");
    facts.rights.effective = UINT64_C(1) << OS_CAP_SYS_ADMIN;
    choose("unknown");
    machine("580.159.03", "debian");
    facts.admin_only = 0;
    choose("unknown");
}

static void permission_in_a_container(void **state)
{
    (void)state;
    gpu(ERR_PERMISSION, "", false);
    machine("580.159.03", "debian");
    facts.container = "docker";
    choose("container_capability");
    assert_int_equal(remedy.n_commands, 1);
    has_command(0, "docker run --cap-add=PERFMON");
    facts.container = "podman";
    choose("container_capability");
    has_command(0, "podman run --cap-add=PERFMON");
    facts.container = "kubernetes";
    choose("container_capability");
    has_command(0, "[\"PERFMON\"]");
    machine("550.54.15", "debian");
    facts.container = "docker";
    choose("module_option");
    assert_contains(remedy.text, "On the host");
    has_command(0, "options nvidia NVreg_RestrictProfilingToAdminUsers=0");
    machine("580.159.03", "debian");
    facts.container = "podman";
    facts.rights.user_namespace = true; /* rootless */
    choose("module_option");
    assert_contains(remedy.text, "user namespace");
}

static void a_virtual_gpu(void **state)
{
    (void)state;
    machine("580.159.03", "debian");
    gpu(ERR_PERMISSION,
        "SetConfig: profiling is not enabled for this virtual GPU "
        "(VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, 40)",
        false);
    choose("vgpu");
    has_command(0, "enable_profiling=1");
}

static void add_holder(int pid, const char *name, const char *what, const char *cure)
{
    struct doctor_holder *h = &facts.holders[facts.n_holders++];
    *h = (struct doctor_holder){.pid = pid, .what = what, .remedy = cure};
    snprintf(h->name, sizeof h->name, "%s", name);
}

static void counters_in_use(void **state)
{
    (void)state;
    machine("580.159.03", "debian");
    gpu(ERR_BUSY, "SetConfig: … (HARDWARE_BUSY, 26)", false);
    choose("release");
    assert_contains(remedy.text, "other containers");
    assert_int_equal(remedy.n_commands, 0);
    assert_int_equal(doctor_exit_code(&f), EXIT_CODE_BUSY);
    add_holder(12, "nv-hostengine", "NVIDIA DCGM", "dcgmi profile --pause (and so on)");
    choose("release");
    has_command(0, "dcgmi profile --pause");
    assert_contains(remedy.text, "nv-hostengine, process 12");
    add_holder(44, "nsys", "Nsight Systems", "stop it");
    choose("release");
    assert_contains(remedy.text, "Nsight Systems (nsys, process 44)");
    has_command(0, "kill -INT 44");
    assert_int_equal(remedy.n_commands, 1);
    gpu(ERR_BUSY, "… (MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, 39)", true);
    choose("release");
    assert_contains(remedy.text, "start it outside");
    assert_int_equal(remedy.n_commands, 0);
    assert_int_equal(doctor_exit_code(&f), EXIT_CODE_OK); /* GPM */
}

static void no_cupti(void **state)
{
    (void)state;
    machine("580.159.03", "debian");
    gpu(ERR_NOT_FOUND, "CUPTI 12.8 or newer was not found", true);
    f.cupti.path[0] = '\0';
    snprintf(f.cupti_reason, sizeof f.cupti_reason, "CUPTI 12.8 or newer was not found");
    choose("cupti");
    has_command(0, "pip install");
    has_command(0, " nvidia-cuda-cupti");
    has_command(1, "SMEFF_CUPTI=~/.local/share/smeff/nvidia/cu13/lib");
    facts.cuda_packages = true;
    choose("cupti");
    assert_int_equal(remedy.n_commands, 1);
    has_command(0, "sudo apt install cuda-cupti-13-0");
    machine("550.54.15", "fedora"); /* a driver that is too old for CUDA 13 */
    choose("cupti");
    has_command(0, "nvidia-cuda-cupti-cu12>=12.8");
    has_command(1, "nvidia/cuda_cupti/lib");
    facts.cuda_packages = true;
    choose("cupti");
    has_command(0, "sudo dnf install cuda-cupti-12-9");
    machine("580.159.03", "arch");
    choose("cupti");
    has_command(0, "sudo pacman -S cuda");
    /* one that does not know the chip */
    machine("580.159.03", "debian");
    gpu(ERR_UNSUPPORTED, "this CUPTI does not know the chip (INVALID_CHIP_NAME, 46)", false);
    choose("cupti");
    assert_int_equal(doctor_exit_code(&f), EXIT_CODE_FAILURE);
}

static void no_gpu_here(void **state)
{
    (void)state;
    f.backends[DOCTOR_NVML] = (struct doctor_backend){.status = ERR_NO_GPU, .reason = "no driver"};
    machine("", "debian");
    facts.pci_gpus = 0;
    choose("no_gpu");
    assert_int_equal(doctor_exit_code(&f), EXIT_CODE_NO_GPU);
    facts.container = "docker";
    choose("container_gpu");
    has_command(0, "--gpus all");
    facts.container = "kubernetes";
    choose("container_gpu");
    has_command(0, "nvidia.com/gpu");
    facts.container = "";
    facts.wsl = true;
    choose("driver");
    assert_contains(remedy.text, "Windows");
}

static void no_driver(void **state)
{
    (void)state;
    static const struct {
        const char *id, *command;
    } cases[] = {
        {"debian", "apt install nvidia-driver"},
        {"ubuntu", "ubuntu-drivers install"},
        {"fedora", "dnf install"},
        {"arch", "pacman -S nvidia-open"},
        {"suse", "zypper install"},
    };
    f.backends[DOCTOR_NVML] = (struct doctor_backend){.status = ERR_NO_GPU, .reason = "no driver"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        machine("", cases[i].id);
        facts.nodes = NODES_ABSENT;
        choose("driver");
        assert_int_equal(remedy.n_commands, 1);
        has_command(0, cases[i].command);
    }
    /* the module without its library */
    machine("580.159.03", "debian");
    f.backends[DOCTOR_NVML].status = ERR_NOT_FOUND;
    choose("driver");
    assert_contains(remedy.text, "580.159.03");
    f.backends[DOCTOR_NVML] = (struct doctor_backend){
        .status = ERR_UNSUPPORTED, .reason = "nvmlInit_v2: … (LIB_RM_VERSION_MISMATCH, 18)"};
    choose("driver");
    has_command(0, "sudo reboot");
    f.backends[DOCTOR_NVML] =
        (struct doctor_backend){.status = ERR_VENDOR, .reason = "GPU 0 fell off the bus"};
    choose("driver");
    has_command(0, "dmesg");
}

static void a_driver_that_hangs(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    const struct show_style style = {.columns = 80};
    machine("", "debian");
    f.backends[DOCTOR_NVML] = (struct doctor_backend){.status = ERR_TIMEOUT, .reason = "no value"};
    choose("driver");
    has_command(0, "dmesg");
    assert_int_equal(doctor_exit_code(&f), EXIT_CODE_FAILURE);
    const struct doctor_report r = {&facts, &f, &remedy, EXIT_CODE_FAILURE};
    doctor_text(&out, &r, &style);
    assert_contains(buf_str(&out), "the NVIDIA driver does not answer");
    buf_fini(&out);
}

static void device_files_that_are_closed(void **state)
{
    (void)state;
    machine("580.159.03", "debian");
    facts.nodes = NODES_DENIED;
    snprintf(facts.nodes_group, sizeof facts.nodes_group, "video");
    f.backends[DOCTOR_NVML] = (struct doctor_backend){.status = ERR_PERMISSION};
    choose("device_nodes");
    has_command(0, "usermod -aG video");
    assert_int_equal(doctor_exit_code(&f), EXIT_CODE_NO_PERMISSION);
}

static void a_gpu_that_is_not_there(void **state)
{
    (void)state;
    machine("580.159.03", "debian");
    f.none_asked_for = true;
    f.backends[DOCTOR_NVML] =
        (struct doctor_backend){.status = ERR_NO_GPU, .reason = "no GPU 7: GPU 0 is the only one"};
    choose("gpu");
    assert_contains(remedy.text, "no GPU 7");
    assert_int_equal(doctor_exit_code(&f), EXIT_CODE_NO_GPU);
}

/* The GPU that can be helped, not the one that works. */
static void two_gpus_one_in_trouble(void **state)
{
    (void)state;
    machine("580.159.03", "debian");
    gpu(OK, "", true);
    gpus[1] = gpus[0];
    gpus[1].index = 1;
    gpus[1].backends[DOCTOR_PM] = (struct doctor_backend){.status = ERR_BUSY, .reason = "busy"};
    f.n_gpus = 2;
    choose("release");
    assert_int_equal(doctor_exit_code(&f), EXIT_CODE_OK);
    /* one that never can does not matter beside one that does */
    gpus[1].backends[DOCTOR_PM].status = ERR_UNSUPPORTED;
    choose("none");
}

static void what_cannot_be_cured(void **state)
{
    (void)state;
    machine("580.159.03", "debian");
    gpu(ERR_UNSUPPORTED, "mining cards cannot be profiled (CMP_DEVICE_NOT_SUPPORTED, 42)", false);
    choose("none");
    assert_contains(remedy.text, "Nothing can be done");
    assert_int_equal(doctor_exit_code(&f), EXIT_CODE_FAILURE);
    gpu(ERR_UNSUPPORTED, "not supported", true);
    choose("none");
    assert_contains(remedy.text, "GPM reads");
    gpu(ERR_IO, "killed by signal 11", false);
    choose("unknown");
    has_command(0, "SMEFF_DEBUG=1");
}

/* ---- what CUPTI's note says ---- */

static void the_note_of_cupti(void **state)
{
    (void)state;
    struct cupti_taken c;
    char text[CUPTI_RELEASE_SIZE];
    assert_true(cupti_parse_note("pm: CUPTI interface 130001 from /a (b)/libcupti.so.13 (CUDA "
                                 "toolkit), 14 counters",
                                 &c));
    assert_int_equal(c.version, 130001);
    assert_string_equal(c.path, "/a (b)/libcupti.so.13");
    assert_string_equal(c.from, "CUDA toolkit");
    assert_false(cupti_parse_note("pm: the hardware buffer overflowed", &c));
    assert_false(cupti_parse_note("pm: CUPTI interface x from /a (b)", &c));
    assert_false(cupti_parse_note("pm: CUPTI interface 1 from /a", &c));
    assert_false(cupti_parse_note("", &c));
    assert_string_equal(cupti_release(text, 130001), "13.0 Update 1");
    assert_string_equal(cupti_release(text, 130200), "13.2");
    assert_string_equal(cupti_release(text, 26), "12.8");
    assert_string_equal(cupti_release(text, 25), "interface 25");
}

/* ---- printing ---- */

static const struct doctor_report *report(void)
{
    static struct doctor_report r;
    doctor_remedy_choose(&facts, &f, &remedy);
    r = (struct doctor_report){&facts, &f, &remedy, doctor_exit_code(&f)};
    return &r;
}

static void the_text(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    struct show_style style = {.columns = 80, .utf8 = false, .colour = false};
    machine("550.54.15", "debian");
    gpu(ERR_PERMISSION, "the driver refuses – really", false);
    doctor_text(&out, report(), &style);
    const char *text = buf_str(&out);
    assert_contains(text, "No hardware counters: no permission.");
    assert_contains(text, "driver      550.54.15\n");
    assert_contains(text, "GPU 0       NVIDIA H200, chip GH100");
    assert_contains(text, "CUPTI       13.0 Update 1: /x/libcupti.so.13 (CUDA toolkit)");
    assert_contains(text, "RmProfilingAdminOnly is 1");
    assert_contains(text, "an ordinary user, without CAP_PERFMON, without CAP_SYS_ADMIN");
    assert_contains(text, "pm          no    the driver refuses - really");
    assert_contains(text, "nvml        yes");
    assert_contains(text, "\n    sudo update-initramfs -u");
    assert_null(strchr(text, '\033'));
    for (const char *line = text; *line;) {
        size_t n = strcspn(line, "\n");
        if (n > 80 && strncmp(line, "    ", 4) != 0) /* commands are not wrapped */
            fail_msg("%zu columns: %.*s", n, (int)n, line);
        line += n + (line[n] == '\n');
    }
    buf_clear(&out);
    style.colour = true;
    doctor_text(&out, report(), &style);
    assert_contains(buf_str(&out), "\033[1m");
    buf_fini(&out);
}

static void the_json(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    json_error_t why;
    machine("580.159.03", "debian");
    gpu(ERR_BUSY, "\"taken\"", true);
    add_holder(44, "nsys", "Nsight Systems", "stop it");
    facts.rights.known = false;
    assert_int_equal(doctor_json(&out, report(), NULL), OK);
    assert_int_equal(strcspn(buf_str(&out), "\n"), out.len - 1);
    json_t *o = json_loads(buf_str(&out), 0, &why);
    assert_non_null(o);
    int schema, code, counters, usable, pid;
    const char *state_name, *reason, *kind, *text;
    json_t *root_flag, *backends, *nsys;
    int bad = json_unpack_ex(
        o, &why, 0,
        "{s:i, s:i, s:b, s:[{s:{s:{s:b, s:s, s:s}}}], s:{s:o}, s:[{s:i}], s:{s:s, s:[s]}, s:o}",
        "schema", &schema, "exit_code", &code, "counters", &counters, "gpus", "backends", "pm",
        "usable", &usable, "state", &state_name, "reason", &reason, "permission", "root",
        &root_flag, "holders", "pid", &pid, "remedy", "kind", &kind, "commands", &text, "backends",
        &backends);
    if (bad)
        fail_msg("%s", why.text);
    assert_int_equal(schema, 1);
    assert_int_equal(code, 0);
    assert_true(counters && !usable && json_is_null(root_flag));
    assert_string_equal(state_name, "busy");
    assert_string_equal(reason, "\"taken\"");
    assert_string_equal(kind, "release");
    assert_string_equal(text, "kill -INT 44");
    assert_int_equal(pid, 44);
    nsys = json_object_get(backends, "nsys");
    assert_true(json_object_get(backends, "gpm") && nsys);
    json_decref(o);
    buf_fini(&out);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, make_machine, remove_folder)
    const struct CMUnitTest tests[] = {
        T(an_empty_machine),
        T(the_driver),
        T(distributions),
        T(rights),
        T(containers),
        T(the_bus_and_the_device_files),
        T(device_files_of_a_group),
        T(links_between_toolkits_are_one_folder),
        T(who_may_hold_the_counters),
        T(nothing_to_do),
        T(a_capability_where_the_driver_knows_it),
        T(the_module_option_where_it_must_be),
        T(where_the_capability_does_not_help),
        T(permission_in_a_container),
        T(a_virtual_gpu),
        T(counters_in_use),
        T(no_cupti),
        T(no_gpu_here),
        T(no_driver),
        T(a_driver_that_hangs),
        T(device_files_that_are_closed),
        T(a_gpu_that_is_not_there),
        T(two_gpus_one_in_trouble),
        T(what_cannot_be_cured),
        T(the_note_of_cupti),
        T(the_text),
        T(the_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

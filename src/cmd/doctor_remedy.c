/* SPDX-License-Identifier: MIT */
/* smeff doctor: the one thing to do. Facts about permissions are those of NVIDIA's page on
 * ERR_NVGPUCTRPERM and of its kernel module's source (os-interface.c: from R565 on CAP_PERFMON is
 * enough, if the kernel is 5.8 or newer). */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cmd/doctor.h"

enum { DRIVER_WITH_PERFMON = 565, DRIVER_OF_CUDA_13 = 580 };

static const char shared_hosts[] =
    "It opens the counters to every user of the machine: on a shared host one user can then learn "
    "something of another's work (that is why NVIDIA closed them).";

__attribute__((format(printf, 3, 4))) static void say(struct doctor_remedy *r, const char *kind,
                                                      const char *fmt, ...)
{
    va_list ap;
    r->kind = kind;
    va_start(ap, fmt);
    vsnprintf(r->text, sizeof r->text, fmt, ap);
    va_end(ap);
    str_one_line(r->text);
}

__attribute__((format(printf, 2, 3))) static void command(struct doctor_remedy *r, const char *fmt,
                                                          ...)
{
    va_list ap;
    if (r->n_commands == DOCTOR_COMMANDS_MAX)
        return;
    va_start(ap, fmt);
    vsnprintf(r->commands[r->n_commands++], sizeof r->commands[0], fmt, ap);
    va_end(ap);
}

static void warn_of(struct doctor_remedy *r, const char *text)
{
    snprintf(r->caution, sizeof r->caution, "%s", text);
}

const char *doctor_driver(const struct doctor_facts *facts, const struct doctor_findings *f)
{
    return facts->driver[0] ? facts->driver : f->driver;
}

static bool is_fedora_like(const struct os_release *o)
{
    return os_release_is(o, "fedora") || os_release_is(o, "rhel") || os_release_is(o, "centos");
}

static bool is_debian_like(const struct os_release *o)
{
    return os_release_is(o, "debian") || os_release_is(o, "ubuntu");
}

/* ---- permission ---- */

#define OPTION_TEXT "NVreg_RestrictProfilingToAdminUsers=0"

/* Debian's own packages call the module nvidia-current; a line for a module that is not there does
 * no harm. */
static void module_option(struct doctor_remedy *r, const struct doctor_facts *facts)
{
    static const char file[] = "/etc/modprobe.d/nvidia-profiling.conf";
    const struct os_release *o = &facts->release;
    warn_of(r, shared_hosts);
    if (os_release_is(o, "nixos")) {
        say(r, "module_option",
            "The driver shows its counters to administrators only. Open them with the kernel "
            "module's option: add this line to configuration.nix, then rebuild and reboot.");
        command(r, "boot.kernelParams = [ \"nvidia." OPTION_TEXT "\" ];");
        return;
    }
    const char *initramfs = is_debian_like(o)          ? "sudo update-initramfs -u -k all"
                            : is_fedora_like(o)        ? "sudo dracut --regenerate-all -f"
                            : os_release_is(o, "suse") ? "sudo dracut -f"
                            : os_release_is(o, "arch") ? "sudo mkinitcpio -P"
                                                       : NULL;
    if (!initramfs) {
        say(r, "module_option",
            "The driver shows its counters to administrators only. Open them with the kernel "
            "module's option: add nvidia." OPTION_TEXT
            " to the kernel's command line in the boot loader, then reboot.");
        return;
    }
    say(r, "module_option",
        "The driver shows its counters to administrators only. Open them with the kernel module's "
        "option, which takes effect at the next boot.");
    if (is_debian_like(o))
        command(r, "printf 'options %%s " OPTION_TEXT "\\n' nvidia nvidia-current | sudo tee %s",
                file);
    else
        command(r, "echo 'options nvidia " OPTION_TEXT "' | sudo tee %s", file);
    command(r, "%s", initramfs);
    command(r, "sudo reboot");
}

static bool knows_perfmon(const struct doctor_facts *facts, const struct doctor_findings *f)
{
    const unsigned *k = facts->rights.kernel;
    bool kernel = k[0] == 0 || k[0] > 5 || (k[0] == 5 && k[1] >= 8);
    return kernel && doctor_driver_major(doctor_driver(facts, f)) >= DRIVER_WITH_PERFMON;
}

static void container_permission(struct doctor_remedy *r, const struct doctor_facts *facts,
                                 const struct doctor_findings *f)
{
    bool capability = knows_perfmon(facts, f) && !facts->rights.user_namespace &&
                      !os_can(&facts->rights, OS_CAP_PERFMON);
    if (capability && strcmp(facts->container, "kubernetes") == 0) {
        say(r, "container_capability",
            "This container may not read the counters. Give it the one capability that is needed, "
            "in the pod's description.");
        command(r, "securityContext: {capabilities: {add: [\"PERFMON\"]}}");
    } else if (capability) {
        say(r, "container_capability",
            "This container may not read the counters. Start it with the one capability that is "
            "needed.");
        command(r, "%s run --cap-add=PERFMON …",
                strcmp(facts->container, "podman") == 0 ? "sudo podman" : "docker");
    } else {
        say(r, "module_option",
            "This container may not read the counters, and %s. On the host, put this line into a "
            "file below /etc/modprobe.d, renew the initramfs and reboot.",
            facts->rights.user_namespace ? "in a user namespace no capability helps"
            : knows_perfmon(facts, f)    ? "the capability that it has is not enough"
                                         : "this driver does not know CAP_PERFMON (565 and newer "
                                           "do)");
        command(r, "options nvidia " OPTION_TEXT);
        warn_of(r, shared_hosts);
    }
}

static void permission(struct doctor_remedy *r, const struct doctor_facts *facts,
                       const struct doctor_findings *f, const char *reason)
{
    bool may = os_can(&facts->rights, OS_CAP_SYS_ADMIN) && !facts->rights.user_namespace;
    if (strstr(reason, "VIRTUALIZED_DEVICE")) {
        say(r, "vgpu",
            "This is a virtual GPU whose host does not allow profiling: its administrator must set "
            "the vGPU plug-in parameter enable_profiling to 1 for this machine.");
        command(r, "enable_profiling=1");
    } else if (facts->admin_only == 0 || may) {
        say(r, "unknown",
            "The driver refuses in spite of the rights that are there: %s. On a vGPU host, and "
            "under confidential computing, it always does.",
            reason);
    } else if (facts->container[0]) {
        container_permission(r, facts, f);
    } else if (knows_perfmon(facts, f) && !facts->rights.user_namespace &&
               !os_can(&facts->rights, OS_CAP_PERFMON)) {
        say(r, "capability",
            "The driver shows its counters to administrators only. Start smeff with the one "
            "capability that is needed, as an ambient one (a service: "
            "AmbientCapabilities=CAP_PERFMON in its unit; setcap on the file does not work).");
        command(r, "sudo setpriv --reuid=\"$(id -u)\" --regid=\"$(id -g)\" --init-groups "
                   "--inh-caps=+perfmon --ambient-caps=+perfmon \"$(command -v smeff)\" measure");
    } else {
        module_option(r, facts);
    }
}

/* ---- counters in use ---- */

static bool is_dcgm(const struct doctor_holder *h)
{
    return strstr(h->remedy, "dcgmi") != NULL;
}

/* DCGM runs on many machines and seldom needs these counters: a profiler is likelier. */
static const struct doctor_holder *likeliest(const struct doctor_facts *facts)
{
    for (size_t i = 0; i < facts->n_holders; i++)
        if (!is_dcgm(&facts->holders[i]))
            return &facts->holders[i];
    return facts->n_holders ? &facts->holders[0] : NULL;
}

static void busy(struct doctor_remedy *r, const struct doctor_facts *facts, const char *reason)
{
    const struct doctor_holder *h = likeliest(facts);
    if (strstr(reason, "MULTIPLE_SUBSCRIBERS"))
        say(r, "release", "smeff itself runs under a profiler or debugger: start it outside.");
    else if (!h)
        say(r, "release",
            "Another program holds the counters, and none that is known for it can be seen from "
            "here: look for nsys, ncu or DCGM in other containers and on the host of this machine, "
            "and stop it. smeff takes the counters as soon as they are free.");
    else
        say(r, "release",
            "Another program holds the counters: probably %s (%s, process %d): %s. smeff takes the "
            "counters as soon as they are free.",
            h->what, h->name, h->pid, h->remedy);
    if (h && r->n_commands == 0 && !strstr(reason, "MULTIPLE_SUBSCRIBERS")) {
        if (is_dcgm(h))
            command(r, "dcgmi profile --pause");
        else
            command(r, "kill -INT %d", h->pid);
    }
}

/* ---- CUPTI ---- */

static void cupti(struct doctor_remedy *r, const struct doctor_facts *facts,
                  const struct doctor_findings *f)
{
    /* CUPTI 13 needs driver 580; 12.x works with 525 and newer */
    unsigned driver = doctor_driver_major(doctor_driver(facts, f));
    bool cuda13 = driver == 0 || driver >= DRIVER_OF_CUDA_13;
    const char *why = f->cupti_reason[0] ? f->cupti_reason : "no CUPTI that can be used was found";
    const struct os_release *o = &facts->release;
    say(r, "cupti",
        "PM sampling needs NVIDIA's CUPTI 12.8 or newer with its two helper libraries (smeff may "
        "not bring them along): %.300s",
        why);
    if (os_release_is(o, "arch")) {
        command(r, "sudo pacman -S cuda");
    } else if (facts->cuda_packages && (is_debian_like(o) || is_fedora_like(o))) {
        command(r, "sudo %s install cuda-cupti-%s", is_debian_like(o) ? "apt" : "dnf",
                cuda13 ? "13-0" : "12-9");
    } else {
        command(r, "python3 -m pip install --target ~/.local/share/smeff %s",
                cuda13 ? "nvidia-cuda-cupti" : "'nvidia-cuda-cupti-cu12>=12.8'");
        command(r, "export SMEFF_CUPTI=~/.local/share/smeff/nvidia/%s/lib",
                cuda13 ? "cu13" : "cuda_cupti");
    }
}

/* ---- no GPU ---- */

static void install_driver(struct doctor_remedy *r, const struct os_release *o)
{
    say(r, "driver",
        "There is an NVIDIA GPU in this machine, but its driver is not loaded: install NVIDIA's "
        "driver%s, then reboot.",
        os_release_is(o, "ubuntu")   ? ""
        : os_release_is(o, "debian") ? " (Debian's components contrib and non-free)"
        : os_release_is(o, "arch")   ? ""
        : is_fedora_like(o)          ? " (from NVIDIA's package repository)"
        : os_release_is(o, "suse")   ? " (from NVIDIA's package repository)"
                                     : ", as your distribution describes it");
    if (os_release_is(o, "ubuntu"))
        command(r, "sudo ubuntu-drivers install");
    else if (os_release_is(o, "debian"))
        command(r, "sudo apt install nvidia-driver");
    else if (os_release_is(o, "arch"))
        command(r, "sudo pacman -S nvidia-open");
    else if (is_fedora_like(o))
        command(r, "sudo dnf install nvidia-open");
    else if (os_release_is(o, "suse"))
        command(r, "sudo zypper install nvidia-open");
}

static void gpu_into_container(struct doctor_remedy *r, const struct doctor_facts *facts)
{
    say(r, "container_gpu",
        "This container has no GPU, or not the driver's libraries: start it with GPUs.");
    if (strcmp(facts->container, "kubernetes") == 0)
        command(r, "resources: {limits: {nvidia.com/gpu: 1}}");
    else if (strcmp(facts->container, "podman") == 0)
        command(r, "podman run --device nvidia.com/gpu=all …");
    else
        command(r, "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility …");
}

static void open_nodes(struct doctor_remedy *r, const struct doctor_facts *facts)
{
    say(r, "device_nodes", "You may not open the GPU's device files (/dev/nvidia*)%s.",
        facts->nodes_group[0] ? ": join the group that may, and log in again" : "");
    if (facts->nodes_group[0])
        command(r, "sudo usermod -aG %s \"$(id -un)\"", facts->nodes_group);
    else
        command(r, "ls -l /dev/nvidia*");
}

static void no_gpu(struct doctor_remedy *r, const struct doctor_facts *facts,
                   const struct doctor_findings *f)
{
    const struct doctor_backend *nvml = &f->backends[DOCTOR_NVML];
    bool loaded = facts->module || f->driver[0];
    if (f->none_asked_for)
        say(r, "gpu", "Ask for a GPU that is there (--gpu): %s.", nvml->reason);
    else if (nvml->status == ERR_TIMEOUT) {
        say(r, "driver", "The driver's library does not answer: the kernel's log may say why.");
        command(r, "sudo dmesg | grep -iE 'nvrm|xid'");
    } else if (!loaded && facts->wsl)
        say(r, "driver",
            "Under WSL the driver is that of Windows: install NVIDIA's driver there (525 or "
            "newer), and none here.");
    else if (facts->nodes == NODES_DENIED || nvml->status == ERR_PERMISSION)
        open_nodes(r, facts);
    else if (facts->container[0] && nvml->status != ERR_UNSUPPORTED)
        gpu_into_container(r, facts);
    else if (!loaded && facts->pci_gpus == 0)
        say(r, "no_gpu",
            "This machine has no NVIDIA GPU, or shows none: run smeff where the GPU is. (smeff "
            "metrics and smeff analyze work without one.)");
    else if (!loaded)
        install_driver(r, &facts->release);
    else if (nvml->status == ERR_NOT_FOUND || strstr(nvml->reason, "libnvidia-ml.so.1 not found"))
        say(r, "driver",
            "The driver's kernel module is loaded, but its library libnvidia-ml.so.1 is missing: "
            "install the driver's libraries in the same version (%s).",
            doctor_driver(facts, f));
    else if (strstr(nvml->reason, "MISMATCH")) {
        say(r, "driver", "The driver was renewed while its old kernel module is still loaded.");
        command(r, "sudo reboot");
    } else {
        say(r, "driver",
            "The driver is loaded, but no GPU answers (%s): the kernel's log says why.",
            nvml->reason);
        command(r, "sudo dmesg | grep -iE 'nvrm|xid'");
    }
}

/* ---- choosing ---- */

static bool can_be_cured(const struct doctor_backend *b)
{
    return !b->usable && (b->status == ERR_PERMISSION || b->status == ERR_BUSY);
}

/* PM sampling on the GPU that needs help: the first that can be cured; where PM sampling works on
 * none, its best failure. NULL = nothing to do. */
static const struct doctor_backend *patient(const struct doctor_findings *f)
{
    for (size_t i = 0; i < f->n_gpus; i++)
        if (can_be_cured(&f->gpus[i].backends[DOCTOR_PM]))
            return &f->gpus[i].backends[DOCTOR_PM];
    return f->backends[DOCTOR_PM].usable ? NULL : &f->backends[DOCTOR_PM];
}

static bool lacks_cupti(const struct doctor_findings *f, const struct doctor_backend *pm)
{
    return !f->cupti.path[0] || pm->status == ERR_NOT_FOUND ||
           strstr(pm->reason, "INVALID_CHIP_NAME") || strstr(pm->reason, "NOT_INITIALIZED");
}

void doctor_remedy_choose(const struct doctor_facts *facts, const struct doctor_findings *f,
                          struct doctor_remedy *out)
{
    const struct doctor_backend *pm = patient(f);
    *out = (struct doctor_remedy){.kind = "none"};
    if (f->n_gpus == 0)
        no_gpu(out, facts, f);
    else if (!pm)
        say(out, "none", "Nothing to do: PM sampling reads the hardware's counters.");
    else if (pm->status == ERR_PERMISSION)
        permission(out, facts, f, pm->reason);
    else if (pm->status == ERR_BUSY)
        busy(out, facts, pm->reason);
    else if (lacks_cupti(f, pm))
        cupti(out, facts, f);
    else if (doctor_has_counters(f))
        say(out, "none",
            "Nothing to do: GPM reads the hardware's counters. PM sampling, which is faster, does "
            "not work here: %s",
            pm->reason);
    else if (pm->status == ERR_UNSUPPORTED)
        say(out, "none",
            "Nothing can be done: there are the driver's readings only, no hardware counters: %s",
            pm->reason);
    else {
        say(out, "unknown",
            "PM sampling failed (%s). The library's own messages may say more; please report them.",
            pm->reason);
        command(out, "SMEFF_DEBUG=1 smeff measure 1 --backend pm");
    }
}

bool doctor_has_counters(const struct doctor_findings *f)
{
    return f->backends[DOCTOR_PM].usable || f->backends[DOCTOR_GPM].usable;
}

enum exit_code doctor_exit_code(const struct doctor_findings *f)
{
    const struct doctor_backend *pm = &f->backends[DOCTOR_PM], *gpm = &f->backends[DOCTOR_GPM],
                                *nvml = &f->backends[DOCTOR_NVML];
    if (doctor_has_counters(f))
        return EXIT_CODE_OK;
    if (f->n_gpus == 0)
        return nvml->status == ERR_PERMISSION ? EXIT_CODE_NO_PERMISSION
               : nvml->status == ERR_TIMEOUT  ? EXIT_CODE_FAILURE
                                              : EXIT_CODE_NO_GPU;
    if (pm->status == ERR_PERMISSION || gpm->status == ERR_PERMISSION)
        return EXIT_CODE_NO_PERMISSION;
    if (pm->status == ERR_BUSY || gpm->status == ERR_BUSY)
        return EXIT_CODE_BUSY;
    return EXIT_CODE_FAILURE;
}

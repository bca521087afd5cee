/* SPDX-License-Identifier: MIT */
/* Loading NVIDIA's libraries, and what their result codes mean. How the fakes behave is tested
 * beside them, in tests/fakes. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_script.h"
#include "vendor/cuda_api.h"
#include "vendor/cupti_api.h"
#include "vendor/nvml_api.h"

static void link_into(const char *target, const char *dir, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s/%s", folder, dir, name);
    assert_int_equal(symlink(target, path), 0);
}

static bool is_loaded(const char *soname)
{
    void *lib = dlopen(soname, RTLD_LAZY | RTLD_NOLOAD);
    if (lib)
        dlclose(lib);
    return lib != NULL;
}

static void test_nvml_loads(void **state)
{
    (void)state;
    play("driver = 123.45\n");
    struct nvml_api api = {0};
    struct error err = ERROR_INIT;
    assert_int_equal(nvml_api_load(&api, FAKES_DIR "/nvml/libnvidia-ml.so.1", &err), OK);
    assert_string_equal(api.lib.path, FAKES_DIR "/nvml/libnvidia-ml.so.1");
#define HAS(name) assert_non_null(api.name);
    NVML_SYMBOLS(HAS, HAS)
#undef HAS
    char version[NVML_VERSION_SIZE] = "";
    assert_int_equal(api.nvmlInit_v2(), NVML_SUCCESS);
    assert_int_equal(api.nvmlSystemGetDriverVersion(version, sizeof version), NVML_SUCCESS);
    assert_string_equal(version, "123.45");
    assert_int_equal(api.nvmlShutdown(), NVML_SUCCESS);
    nvml_api_unload(&api);
    assert_null(api.lib.handle);
    assert_false(is_loaded("libnvidia-ml.so.1"));
}

static void test_nvml_of_an_old_driver(void **state)
{
    (void)state;
    struct nvml_api api = {0};
    assert_int_equal(nvml_api_load(&api, FAKES_DIR "/nvml_old/libnvidia-ml.so.1", NULL), OK);
    assert_null(api.nvmlDeviceGetMemoryInfo_v2);
    assert_null(api.nvmlGpmSampleGet);
    assert_non_null(api.nvmlDeviceGetMemoryInfo);
    nvml_api_unload(&api);
    nvml_api_unload(&api);
    nvml_api_unload(NULL);
}

static void test_nvml_that_lacks_calls(void **state)
{
    (void)state;
    struct nvml_api api = {0};
    struct error err = ERROR_INIT;
    const char *path = FAKES_DIR "/nvml_broken/libnvidia-ml.so.1";
    assert_int_equal(nvml_api_load(&api, path, &err), ERR_UNSUPPORTED);
    assert_contains(err.text, " lacks nvmlInit_v2, nvmlDeviceGetCount_v2");
    assert_null(api.nvmlShutdown);
    assert_int_equal(nvml_api_load(&api, "/no/such/library", &err), ERR_NOT_FOUND);
}

static void test_cuda_loads(void **state)
{
    (void)state;
    play("");
    struct cuda_api api = {0};
    struct error err = ERROR_INIT;
    assert_int_equal(cuda_api_load(&api, FAKES_DIR "/cuda/libcuda.so.1", &err), OK);
#define HAS(name) assert_non_null(api.name);
    CUDA_SYMBOLS(HAS, HAS)
#undef HAS
    int version = 0, count = 0;
    assert_int_equal(api.cuDriverGetVersion(&version), CUDA_SUCCESS);
    assert_int_equal(version, 13000);
    assert_int_equal(api.cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
    assert_int_equal(api.cuInit(0), CUDA_SUCCESS);
    assert_int_equal(api.cuDeviceGetCount(&count), CUDA_SUCCESS);
    assert_int_equal(count, 1);
    assert_int_equal(cuda_fail(&err, &api, "cuInit", CUDA_ERROR_NO_DEVICE), ERR_NO_GPU);
    assert_string_equal(err.text, "cuInit: fake: words of the driver (CUDA_ERROR_NO_DEVICE, 100)");
    assert_int_equal(err.native, 100);
    assert_int_equal(cuda_fail(&err, &api, "cuInit", 12345), ERR_VENDOR);
    assert_string_equal(err.text, "cuInit: unknown result (?, 12345)");
    cuda_api_unload(&api);
    cuda_api_unload(NULL);
    assert_int_equal(cuda_api_load(&api, FAKES_DIR "/cuda_broken/libcuda.so.1", &err),
                     ERR_UNSUPPORTED);
    assert_contains(err.text, " lacks cuInit");
}

static void test_cupti_loads(void **state)
{
    (void)state;
    play("");
    struct cupti_api api = {0};
    struct error err = ERROR_INIT;
    assert_int_equal(cupti_api_load(&api, FAKES_DIR "/cupti", &err), OK);
    assert_string_equal(api.lib.path, FAKES_DIR "/cupti/libcupti.so.13");
    assert_int_equal(api.version, 130001);
#define HAS(name)     assert_non_null(api.name);
#define HAS_NOT(name) assert_null(api.name);
    CUPTI_SYMBOLS(HAS, HAS, HAS_NOT)
#undef HAS_NOT
    assert_true(is_loaded("libnvperf_host.so"));
    cupti_api_unload(&api);
    assert_false(is_loaded("libcupti.so.13"));
    assert_false(is_loaded("libnvperf_host.so"));
    cupti_api_unload(NULL);

    assert_int_equal(cupti_api_load(&api, FAKES_DIR "/cupti_new", &err), OK);
    CUPTI_SYMBOLS(HAS, HAS, HAS)
#undef HAS
    cupti_api_unload(&api);
}

/* Each way not to load; err must say exactly what is wrong, and nothing may stay loaded. */
static void cupti_must_fail(const char *dir, enum status st, const char *text)
{
    struct cupti_api api;
    memset(&api, 0x55, sizeof api);
    struct cupti_api before = api;
    struct error err = ERROR_INIT;
    assert_int_equal(cupti_api_load(&api, dir, &err), st);
    assert_int_equal(err.status, st);
    assert_contains(err.text, text);
    assert_memory_equal(&api, &before, sizeof api);
    assert_false(is_loaded("libcupti.so.13"));
    assert_false(is_loaded("libnvperf_host.so"));
    assert_false(is_loaded("libnvperf_target.so"));
}

static void test_cupti_failures(void **state)
{
    (void)state;
    char dir[PATH_MAX];
    play("");
    cupti_must_fail("/no/such/folder", ERR_NOT_FOUND, "/no/such/folder: No such file");
    cupti_must_fail(FAKES_DIR "/cupti/libcupti.so.13", ERR_IO, "Not a directory");
    cupti_must_fail(FAKES_DIR "/nvml", ERR_NOT_FOUND, "no libcupti.so.* in this folder");
    cupti_must_fail(FAKES_DIR "/cupti_alone", ERR_NOT_FOUND,
                    "CUPTI needs a library from its own folder: " FAKES_DIR
                    "/cupti_alone/libnvperf_host.so: ");
    cupti_must_fail(FAKES_DIR "/cupti_broken", ERR_UNSUPPORTED, "lacks cuptiPmSamplingDecodeData");

    snprintf(dir, sizeof dir, "%s/half", folder);
    assert_int_equal(mkdir(dir, 0700), 0);
    link_into(FAKES_DIR "/cupti/libcupti.so.13", "half", "libcupti.so.13");
    link_into(FAKES_DIR "/cupti/libnvperf_host.so", "half", "libnvperf_host.so");
    cupti_must_fail(dir, ERR_NOT_FOUND, "libnvperf_target.so: ");

    play("cupti_version = 24\n");
    cupti_must_fail(FAKES_DIR "/cupti", ERR_UNSUPPORTED,
                    "libcupti.so.13 is too old: interface version 24, needed is 26");
    play("fail = cuptiGetVersion:999\n");
    cupti_must_fail(FAKES_DIR "/cupti", ERR_VENDOR, "libcupti.so.13: cuptiGetVersion: ");
}

static void test_cupti_takes_the_highest(void **state)
{
    (void)state;
    static const char *const good = FAKES_DIR "/cupti/libcupti.so.13";
    static const char *const bad = FAKES_DIR "/cupti_broken/libcupti.so.13";
    char dir[PATH_MAX], path[PATH_MAX + 32];
    play("");
    snprintf(dir, sizeof dir, "%s/many", folder);
    assert_int_equal(mkdir(dir, 0700), 0);
    link_into(FAKES_DIR "/cupti/libnvperf_host.so", "many", "libnvperf_host.so");
    link_into(FAKES_DIR "/cupti/libnvperf_target.so", "many", "libnvperf_target.so");
    static const char *const names[] = {"libcupti.so",    "libcupti.so.2025.3.1",
                                        "libcupti.so.9",  "libcupti.so.10.2",
                                        "libcupti.so.12", "libcupti.so.12.9"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        link_into(i + 1 < sizeof names / sizeof names[0] ? bad : good, "many", names[i]);
        link_into(bad, "many", i % 2 ? "libcupti.so.13.bak" : "libcupti_static.a");
        struct cupti_api api = {0};
        enum status st = cupti_api_load(&api, dir, NULL);
        if (i + 1 == sizeof names / sizeof names[0]) {
            assert_int_equal(st, OK); /* so it is not one of the others */
            snprintf(path, sizeof path, "%s/%s", dir, names[i]);
            assert_string_equal(api.lib.path, path);
        } else {
            assert_int_equal(st, ERR_UNSUPPORTED);
        }
        cupti_api_unload(&api);
        snprintf(path, sizeof path, "%s/%s", dir,
                 i % 2 ? "libcupti.so.13.bak" : "libcupti_static.a");
        unlink(path);
    }
    /* a relative folder is made absolute */
    char *back = realpath(".", NULL);
    struct cupti_api api = {0};
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(cupti_api_load(&api, "many", NULL), OK);
    assert_int_equal(api.lib.path[0], '/');
    cupti_api_unload(&api);
    assert_int_equal(chdir(back), 0);
    free(back);
}

static void test_status_of_results(void **state)
{
    (void)state;
    static const struct {
        int rc;
        enum status nvml, cupti;
    } rows[] = {
        {0, OK, OK},
        {4, ERR_PERMISSION, ERR_VENDOR},   /* NVML: no permission */
        {15, ERR_NO_GPU, ERR_UNSUPPORTED}, /* NVML: lost; CUPTI: no helper libraries */
        {26, ERR_UNSUPPORTED, ERR_BUSY},   /* CUPTI: counters taken */
        {35, ERR_VENDOR, ERR_PERMISSION},
        {27, ERR_BUSY, ERR_UNSUPPORTED},
        {3, ERR_UNSUPPORTED, ERR_VENDOR},
        {9, ERR_NO_GPU, ERR_VENDOR},
        {8, ERR_NO_GPU, ERR_NOMEM},
        {999, ERR_VENDOR, ERR_VENDOR},
        {-1, ERR_VENDOR, ERR_VENDOR},
        {4711, ERR_VENDOR, ERR_VENDOR},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(nvml_status(rows[i].rc), rows[i].nvml);
        assert_int_equal(cupti_status(rows[i].rc), rows[i].cupti);
    }
    assert_int_equal(cuda_status(CUDA_SUCCESS), OK);
    assert_int_equal(cuda_status(100), ERR_NO_GPU);
    assert_int_equal(cuda_status(2), ERR_NOMEM);
    assert_int_equal(cuda_status(803), ERR_UNSUPPORTED);
    assert_int_equal(cuda_status(4711), ERR_VENDOR);
}

static void test_words_of_results(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    assert_int_equal(cupti_fail(&err, "cuptiPmSamplingSetConfig", 26), ERR_BUSY);
    assert_int_equal(err.native, 26);
    assert_string_equal(err.text, "cuptiPmSamplingSetConfig: another program holds this GPU's "
                                  "counters (HARDWARE_BUSY, 26)");
    assert_int_equal(nvml_fail(&err, "nvmlDeviceGetPowerUsage", 15), ERR_NO_GPU);
    assert_string_equal(err.text, "nvmlDeviceGetPowerUsage: the GPU has fallen off the bus "
                                  "(GPU_IS_LOST, 15)");
    assert_int_equal(nvml_fail(&err, "call", 4711), ERR_VENDOR);
    assert_string_equal(err.text, "call: unknown result (?, 4711)");
    assert_string_equal(cupti_result_name(0), "SUCCESS");
    assert_string_equal(nvml_result_text(4711), "unknown result");
}

/* The real CUPTI can be asked for metrics without a GPU: it takes our structures, and only with
 * exactly these sizes. Runs in a child, so that nothing of it is left here. */
static int ask_real_cupti(const char *dir)
{
    struct cupti_api api = {0};
    struct error err = ERROR_INIT;
    if (cupti_api_load(&api, dir, &err) != OK) {
        printf("%s\n", err.text);
        return 1;
    }
    struct cupti_host_initialize init = CUPTI_INIT(host_initialize);
    init.profilerType = CUPTI_PROFILER_TYPE_PM_SAMPLING;
    init.pChipName = "GH100";
    init.structSize += 8;
    if (api.cuptiProfilerHostInitialize(&init) != CUPTI_ERROR_INVALID_PARAMETER)
        return 2;
    init.structSize -= 8;
    if (api.cuptiProfilerHostInitialize(&init) != CUPTI_SUCCESS)
        return 3;
    const char *names[] = {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
                           "dram__read_throughput.avg.pct_of_peak_sustained_elapsed"};
    struct cupti_host_add_metrics add = CUPTI_INIT(host_add_metrics);
    add.pHostObject = init.pHostObject;
    add.ppMetricNames = names;
    add.numMetrics = 2;
    struct cupti_host_config_size size = CUPTI_INIT(host_config_size);
    size.pHostObject = init.pHostObject;
    if (api.cuptiProfilerHostConfigAddMetrics(&add) != CUPTI_SUCCESS ||
        api.cuptiProfilerHostGetConfigImageSize(&size) != CUPTI_SUCCESS)
        return 4;
    uint8_t *image = calloc(1, size.configImageSize);
    struct cupti_host_config config = CUPTI_INIT(host_config);
    config.pHostObject = init.pHostObject;
    config.configImageSize = size.configImageSize;
    config.pConfigImage = image;
    struct cupti_host_passes passes = CUPTI_INIT(host_passes);
    passes.configImageSize = size.configImageSize;
    passes.pConfigImage = image;
    if (api.cuptiProfilerHostGetConfigImage(&config) != CUPTI_SUCCESS ||
        api.cuptiProfilerHostGetNumOfPasses(&passes) != CUPTI_SUCCESS)
        return 5;
    return passes.numOfPasses == 1 ? 0 : 6;
}

/* libcupti opens its helpers with RTLD_DEEPBIND, which AddressSanitizer answers by ending the
 * process. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

static void test_real_cupti(void **state)
{
    (void)state;
    static const char dir[] = "/usr/local/cuda/lib64";
    if (SANITIZED || access("/usr/local/cuda/lib64/libnvperf_host.so", R_OK) != 0) {
        print_message("no CUPTI in %s, or sanitizers: this case was not tried\n", dir);
        skip();
    }
    pid_t pid = fork();
    if (pid == 0)
        _exit(ask_real_cupti(dir));
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nvml_loads),
        cmocka_unit_test(test_nvml_of_an_old_driver),
        cmocka_unit_test(test_nvml_that_lacks_calls),
        cmocka_unit_test(test_cuda_loads),
        cmocka_unit_test(test_cupti_loads),
        cmocka_unit_test(test_cupti_failures),
        cmocka_unit_test(test_cupti_takes_the_highest),
        cmocka_unit_test(test_status_of_results),
        cmocka_unit_test(test_words_of_results),
        cmocka_unit_test(test_real_cupti),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

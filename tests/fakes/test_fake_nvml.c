/* SPDX-License-Identifier: MIT */
/* What other tests rely on: the fake NVML and the fake CUDA driver do as their script says. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit/support.h"
#include "play.h"
#include "vendor/cuda_api.h"
#include "vendor/nvml_api.h"

static struct nvml_api nvml;
static struct cuda_api cuda;

/* Loads both with a script and returns the handle of GPU 0. */
static nvmlDevice_t start(const char *script)
{
    nvmlDevice_t dev = NULL;
    play(script);
    assert_int_equal(nvml_api_load(&nvml, FAKES_DIR "/nvml/libnvidia-ml.so.1", NULL), OK);
    assert_int_equal(cuda_api_load(&cuda, FAKES_DIR "/cuda/libcuda.so.1", NULL), OK);
    assert_int_equal(nvml.nvmlInit_v2(), NVML_SUCCESS);
    nvml.nvmlDeviceGetHandleByIndex_v2(0, &dev);
    return dev;
}

static int stop(void **state)
{
    (void)state;
    nvml_api_unload(&nvml);
    cuda_api_unload(&cuda);
    return 0;
}

static int end(void **state)
{
    (void)state;
    play_end();
    return 0;
}

static void test_values(void **state)
{
    (void)state;
    nvmlDevice_t dev = start("[gpu]\n"
                             "nvmlDeviceGetPowerUsage = 123000\n"
                             "nvmlDeviceGetClockInfo.2 = 10501 # memory\n"
                             "nvmlDeviceGetTotalEnergyConsumption = error 3\n"
                             "nvmlDeviceGetTotalEccErrors.1.0 = 7\n"
                             "field.82 = 74\n"
                             "field.138.3 = 1000\n");
    unsigned x = 0;
    unsigned long long y = 0;
    assert_int_equal(nvml.nvmlDeviceGetPowerUsage(dev, &x), NVML_SUCCESS);
    assert_int_equal(x, 123000);
    assert_int_equal(nvml.nvmlDeviceGetClockInfo(dev, NVML_CLOCK_MEM, &x), NVML_SUCCESS);
    assert_int_equal(x, 10501);
    assert_int_equal(nvml.nvmlDeviceGetClockInfo(dev, NVML_CLOCK_SM, &x), NVML_SUCCESS);
    assert_int_equal(x, 1980);
    assert_int_equal(nvml.nvmlDeviceGetTotalEnergyConsumption(dev, &y), NVML_ERROR_NOT_SUPPORTED);
    assert_int_equal(nvml.nvmlDeviceGetNvLinkState(dev, 0, &x), NVML_ERROR_NOT_SUPPORTED);
    assert_int_equal(
        nvml.nvmlDeviceGetTotalEccErrors(dev, NVML_ECC_UNCORRECTED, NVML_ECC_VOLATILE, &y),
        NVML_SUCCESS);
    assert_int_equal(y, 7);
    struct nvml_field_value fields[] = {
        {.fieldId = NVML_FIELD_MEMORY_TEMP},
        {.fieldId = NVML_FIELD_NVLINK_DATA_TX, .scopeId = 3},
        {.fieldId = NVML_FIELD_NVLINK_DATA_TX, .scopeId = 4},
    };
    assert_int_equal(nvml.nvmlDeviceGetFieldValues(dev, 3, fields), NVML_SUCCESS);
    assert_int_equal(fields[0].nvmlReturn, NVML_SUCCESS);
    assert_int_equal(fields[0].valueType, NVML_TYPE_UINT);
    assert_int_equal(fields[0].value.uiVal, 74);
    assert_int_equal(fields[1].value.ullVal, 1000);
    assert_int_equal(fields[2].nvmlReturn, NVML_ERROR_NOT_SUPPORTED);
    assert_int_equal(nvml.nvmlDeviceGetPowerUsage((nvmlDevice_t)&x, &x),
                     NVML_ERROR_INVALID_ARGUMENT);
}

static void test_memory_versions(void **state)
{
    (void)state;
    nvmlDevice_t dev = start("memory = 1000\nmemory.used = 300\nmemory.reserved = 50\n");
    struct nvml_memory_v2 m = {.version = 2}; /* what a wrong reading of the manual gives */
    assert_int_equal(nvml.nvmlDeviceGetMemoryInfo_v2(dev, &m),
                     NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    m.version = NVML_MEMORY_V2;
    assert_int_equal(nvml.nvmlDeviceGetMemoryInfo_v2(dev, &m), NVML_SUCCESS);
    assert_int_equal(m.used, 300);
    assert_int_equal(m.free, 650);
    struct nvml_memory old;
    assert_int_equal(nvml.nvmlDeviceGetMemoryInfo(dev, &old), NVML_SUCCESS);
    assert_int_equal(old.used, 350);
    struct nvml_temperature t = {.version = 1};
    assert_int_equal(nvml.nvmlDeviceGetTemperatureV(dev, &t), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    t.version = NVML_TEMPERATURE_V1;
    assert_int_equal(nvml.nvmlDeviceGetTemperatureV(dev, &t), NVML_SUCCESS);
    assert_int_equal(t.temperature, 61);
}

/* CUDA may count GPUs in another order: PCI address and UUID tell them apart. */
static void test_identity(void **state)
{
    (void)state;
    start("cuda_order = 1 0\n"
          "[gpu]\nname = A\nuuid = GPU-00112233-4455-6677-8899-aabbccddeeff\npci = 0000:1b:00.0\n"
          "[gpu]\nname = B\n");
    unsigned n = 0;
    int cuda_n = 0;
    nvmlDevice_t dev = NULL;
    char text[NVML_NAME_SIZE] = "";
    assert_int_equal(nvml.nvmlDeviceGetCount_v2(&n), NVML_SUCCESS);
    assert_int_equal(n, 2);
    assert_int_equal(cuda.cuInit(0), CUDA_SUCCESS);
    assert_int_equal(cuda.cuDeviceGetCount(&cuda_n), CUDA_SUCCESS);
    assert_int_equal(cuda_n, 2);
    assert_int_equal(cuda.cuDeviceGetName(text, sizeof text, 1), CUDA_SUCCESS);
    assert_string_equal(text, "A");
    assert_int_equal(cuda.cuDeviceGetPCIBusId(text, sizeof text, 1), CUDA_SUCCESS);
    assert_string_equal(text, "0000:1b:00.0");
    assert_int_equal(nvml.nvmlDeviceGetHandleByPciBusId_v2(text, &dev), NVML_SUCCESS);
    assert_int_equal(nvml.nvmlDeviceGetName(dev, text, sizeof text), NVML_SUCCESS);
    assert_string_equal(text, "A");
    struct nvml_pci_info pci;
    assert_int_equal(nvml.nvmlDeviceGetPciInfo_v3(dev, &pci), NVML_SUCCESS);
    assert_string_equal(pci.busId, "00000000:1B:00.0");
    assert_int_equal(nvml.nvmlDeviceGetHandleByPciBusId_v2(pci.busId, &dev), NVML_SUCCESS);
    struct cuda_uuid uuid;
    static const unsigned char bytes[] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                                          0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF};
    assert_int_equal(cuda.cuDeviceGetUuid_v2(&uuid, 1), CUDA_SUCCESS);
    assert_memory_equal(uuid.bytes, bytes, sizeof bytes);
    assert_int_equal(
        nvml.nvmlDeviceGetHandleByUUID("GPU-00000000-0000-0000-0000-000000000002", &dev),
        NVML_SUCCESS);
    assert_int_equal(nvml.nvmlDeviceGetHandleByUUID("GPU-x", &dev), NVML_ERROR_NOT_FOUND);
    int sms = 0;
    assert_int_equal(cuda.cuDeviceGetAttribute(&sms, CUDA_ATTRIBUTE_SM_COUNT, 0), CUDA_SUCCESS);
    assert_int_equal(sms, 132);
    assert_int_equal(cuda.cuDeviceGetAttribute(&sms, CUDA_ATTRIBUTE_PCI_BUS_ID, 1), CUDA_SUCCESS);
    assert_int_equal(sms, 0x1b);
}

static void test_visible_devices_and_none(void **state)
{
    (void)state;
    setenv("CUDA_VISIBLE_DEVICES", "1", 1);
    start("gpus = 2\n");
    int n = 0;
    char text[NVML_NAME_SIZE];
    assert_int_equal(cuda.cuInit(0), CUDA_SUCCESS);
    assert_int_equal(cuda.cuDeviceGetCount(&n), CUDA_SUCCESS);
    assert_int_equal(n, 1);
    assert_int_equal(cuda.cuDeviceGetPCIBusId(text, sizeof text, 0), CUDA_SUCCESS);
    assert_string_equal(text, "0000:02:00.0");
    unsetenv("CUDA_VISIBLE_DEVICES");
    stop(NULL);
    start("gpus = 0\n");
    unsigned count = 9;
    assert_int_equal(nvml.nvmlDeviceGetCount_v2(&count), NVML_SUCCESS);
    assert_int_equal(count, 0);
    assert_int_equal(cuda.cuInit(0), CUDA_ERROR_NO_DEVICE);
}

static void test_processes(void **state)
{
    (void)state;
    nvmlDevice_t dev = start("process = 42 1000 50 20\nprocess = 43 2000 0 0 graphics\n");
    unsigned n = 0;
    struct nvml_process list[4];
    assert_int_equal(nvml.nvmlDeviceGetComputeRunningProcesses_v3(dev, &n, NULL),
                     NVML_ERROR_INSUFFICIENT_SIZE);
    assert_int_equal(n, 1);
    assert_int_equal(nvml.nvmlDeviceGetComputeRunningProcesses_v3(dev, &n, list), NVML_SUCCESS);
    assert_int_equal(list[0].pid, 42);
    assert_int_equal(list[0].usedGpuMemory, 1000);
    assert_int_equal(nvml.nvmlDeviceGetGraphicsRunningProcesses_v3(dev, &n, list), NVML_SUCCESS);
    assert_int_equal(list[0].pid, 43);
    struct nvml_process_utilization rows[4];
    struct nvml_processes_utilization u = {
        .version = NVML_PROCESSES_UTILIZATION_V1, .processSamplesCount = 4, .procUtilArray = rows};
    assert_int_equal(nvml.nvmlDeviceGetProcessesUtilizationInfo(dev, &u), NVML_SUCCESS);
    assert_int_equal(u.processSamplesCount, 2);
    assert_int_equal(rows[0].smUtil, 50);
    unsigned room = 1;
    struct nvml_process_sample samples[1];
    assert_int_equal(nvml.nvmlDeviceGetProcessUtilization(dev, samples, &room, 0),
                     NVML_ERROR_INSUFFICIENT_SIZE);
    assert_int_equal(room, 2);
}

static struct nvml_gpm_metrics *gpm_between(nvmlDevice_t dev, unsigned milliseconds,
                                            const unsigned *ids, unsigned n)
{
    static struct nvml_gpm_metrics m;
    m = (struct nvml_gpm_metrics){.version = NVML_GPM_VERSION, .numMetrics = n};
    for (unsigned i = 0; i < n; i++)
        m.metrics[i].metricId = ids[i];
    assert_int_equal(nvml.nvmlGpmSampleAlloc(&m.sample1), NVML_SUCCESS);
    assert_int_equal(nvml.nvmlGpmSampleAlloc(&m.sample2), NVML_SUCCESS);
    assert_int_equal(nvml.nvmlGpmSampleGet(dev, m.sample1), NVML_SUCCESS);
    usleep(milliseconds * 1000);
    assert_int_equal(nvml.nvmlGpmSampleGet(dev, m.sample2), NVML_SUCCESS);
    assert_int_equal(nvml.nvmlGpmMetricsGet(&m), NVML_SUCCESS);
    nvml.nvmlGpmSampleFree(m.sample1);
    nvml.nvmlGpmSampleFree(m.sample2);
    return &m;
}

static void test_gpm(void **state)
{
    (void)state;
    static const unsigned ids[] = {2, 3, 20, 99};
    /* a wave much shorter than the interval: the mean is near the middle, never an end */
    nvmlDevice_t dev = start("gpm.2 = 71.5\ngpm.3 = square 0 100 0.001\ngpm.20 = 400\n");
    struct nvml_gpm_support support = {.version = NVML_GPM_VERSION};
    assert_int_equal(nvml.nvmlGpmQueryDeviceSupport(dev, &support), NVML_SUCCESS);
    assert_int_equal(support.isSupportedDevice, 1);
    const struct nvml_gpm_metrics *m = gpm_between(dev, 110, ids, 4);
    assert_true(m->metrics[0].value == 71.5);
    assert_true(m->metrics[1].value > 49 && m->metrics[1].value < 51);
    assert_true(m->metrics[2].value == 400);
    assert_int_equal(m->metrics[3].nvmlReturn, NVML_ERROR_NOT_SUPPORTED);
    m = gpm_between(dev, 1, ids, 3);
    assert_int_equal(m->metrics[0].nvmlReturn, NVML_ERROR_NO_DATA);
    assert_true(m->metrics[2].value == 0 && m->metrics[2].nvmlReturn == NVML_SUCCESS);
    stop(NULL);

    dev = start("gpm = no\n");
    assert_int_equal(nvml.nvmlGpmQueryDeviceSupport(dev, &support), NVML_SUCCESS);
    assert_int_equal(support.isSupportedDevice, 0);
    nvmlGpmSample_t sample = NULL;
    assert_int_equal(nvml.nvmlGpmSampleAlloc(&sample), NVML_SUCCESS);
    assert_int_equal(nvml.nvmlGpmSampleGet(dev, sample), NVML_ERROR_NOT_SUPPORTED);
    nvml.nvmlGpmSampleFree(sample);
}

static void test_loss_in_mid_run(void **state)
{
    (void)state;
    char script[400];
    snprintf(script, sizeof script, "gpus = 2\nlost = file %s\n", play_path("gone"));
    nvmlDevice_t dev = start(script);
    unsigned x = 0;
    assert_int_equal(nvml.nvmlDeviceGetPowerUsage(dev, &x), NVML_SUCCESS);
    FILE *f = fopen(play_path("gone"), "w");
    assert_non_null(f);
    fclose(f);
    assert_int_equal(nvml.nvmlDeviceGetPowerUsage(dev, &x), NVML_ERROR_GPU_IS_LOST);
    stop(NULL);
    unlink(play_path("gone"));
    dev = start("lost = after 0.3\n");
    assert_int_equal(nvml.nvmlDeviceGetPowerUsage(dev, &x), NVML_SUCCESS);
    usleep(310 * 1000);
    assert_int_equal(nvml.nvmlDeviceGetPowerUsage(dev, &x), NVML_ERROR_GPU_IS_LOST);
}

static void test_planned_failures(void **state)
{
    (void)state;
    nvmlDevice_t dev = start("fail = nvmlDeviceGetPowerUsage:15:2\n"
                             "fail = nvmlDeviceGetNumFans:4\n"
                             "fail = nvmlDeviceGetMigMode:27:2+\n");
    unsigned x = 0, y = 0;
    static const int power[] = {0, 15, 0}, mig[] = {0, 27, 27};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(nvml.nvmlDeviceGetPowerUsage(dev, &x), power[i]);
        assert_int_equal(nvml.nvmlDeviceGetNumFans(dev, &x), 4);
        assert_int_equal(nvml.nvmlDeviceGetMigMode(dev, &x, &y), mig[i]);
    }
}

static int call_power(void)
{
    unsigned x = 0;
    nvmlDevice_t dev = start("hang = nvmlDeviceGetPowerUsage:2\n");
    nvml.nvmlDeviceGetPowerUsage(dev, &x);
    nvml.nvmlDeviceGetPowerUsage(dev, &x);
    return 0;
}

static int call_fans(void)
{
    unsigned x = 0;
    nvmlDevice_t dev = start("crash = nvmlDeviceGetNumFans\n");
    return nvml.nvmlDeviceGetNumFans(dev, &x);
}

static int call_shutdown(void)
{
    start("abort = nvmlShutdown\n");
    return nvml.nvmlShutdown();
}

static int load_bad_script(void)
{
    fclose(stderr); /* the message is meant for people */
    start("nvmlDeviseGetPowerUsage = 3\n");
    return 0;
}

static void test_hang_and_crash(void **state)
{
    (void)state;
    int status = in_child(call_power);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
    status = in_child(call_fans);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    status = in_child(call_shutdown);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    status = in_child(load_bad_script);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void test_cuda_runs_copies(void **state)
{
    (void)state;
    start("");
    static const char text[] = "there and back";
    char back[sizeof text] = "";
    CUdeviceptr a = 0, b = 0;
    CUevent e0 = NULL, e1 = NULL;
    CUcontext context = NULL;
    CUstream stream = NULL;
    int (*held)(void) = NULL;
    *(void **)&held = dlsym(cuda.lib.handle, "fake_cuda_held");
    assert_non_null(held);
    assert_int_equal(cuda.cuMemAlloc_v2(&a, sizeof text), CUDA_ERROR_NOT_INITIALIZED);
    assert_int_equal(cuda.cuInit(0), CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemAlloc_v2(&a, sizeof text), CUDA_ERROR_INVALID_CONTEXT);
    assert_int_equal(cuda.cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    assert_int_equal(cuda.cuCtxSetCurrent(context), CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemAlloc_v2(&a, sizeof text), CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemAlloc_v2(&b, sizeof text), CUDA_SUCCESS);
    assert_int_equal(cuda.cuStreamCreate(&stream, 0), CUDA_SUCCESS);
    assert_int_equal(cuda.cuEventCreate(&e0, 0), CUDA_SUCCESS);
    assert_int_equal(cuda.cuEventCreate(&e1, 0), CUDA_SUCCESS);
    assert_int_equal(cuda.cuEventRecord(e0, stream), CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemcpyHtoDAsync_v2(a, text, sizeof text, stream), CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemcpyDtoDAsync_v2(b, a, sizeof text, stream), CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemcpyDtoHAsync_v2(back, b, sizeof text, stream), CUDA_SUCCESS);
    usleep(2000);
    assert_int_equal(cuda.cuEventRecord(e1, stream), CUDA_SUCCESS);
    float ms = 0;
    assert_int_equal(cuda.cuEventElapsedTime(&ms, e0, e1), CUDA_SUCCESS);
    assert_true(ms >= 2);
    assert_string_equal(back, text);
    assert_int_equal(held(), 6);
    assert_int_equal(cuda.cuMemFree_v2(a), CUDA_SUCCESS);
    assert_true(cuda.cuMemFree_v2(a) != CUDA_SUCCESS);
    cuda.cuMemFree_v2(b);
    cuda.cuEventDestroy_v2(e0);
    cuda.cuEventDestroy_v2(e1);
    cuda.cuStreamDestroy_v2(stream);
    assert_int_equal(held(), 1);
    assert_int_equal(cuda.cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
    assert_int_equal(held(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_values, stop),
        cmocka_unit_test_teardown(test_memory_versions, stop),
        cmocka_unit_test_teardown(test_identity, stop),
        cmocka_unit_test_teardown(test_visible_devices_and_none, stop),
        cmocka_unit_test_teardown(test_processes, stop),
        cmocka_unit_test_teardown(test_gpm, stop),
        cmocka_unit_test_teardown(test_loss_in_mid_run, stop),
        cmocka_unit_test_teardown(test_planned_failures, stop),
        cmocka_unit_test(test_hang_and_crash),
        cmocka_unit_test_teardown(test_cuda_runs_copies, stop),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}

// Kernels of one SM's own pipes: arithmetic, shared memory, barriers, mma.sync.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>

#include "orrery/calibrate/kernels.h"
#include "orrery/calibrate/kernels_internal.h"

namespace orrery::calibrate {
namespace {

// Every one runs `a` rounds; the first thread of each block writes its clocks.
constexpr const char* kBegin = "  __syncthreads();\n  long long t = clock64();\n";
constexpr const char* kEnd =
    "  __syncthreads();\n  t = clock64() - t;\n"
    "  if (threadIdx.x == 0) out[blockIdx.x] = t;\n}\n";

/// Eight independent chains of one instruction, 32 x 8 of them a round.
KernelText lanes(const std::string& name,
                 const std::string& type,
                 const std::string& constraint,
                 const std::string& instruction) {
  std::string code = kernel_head(name) + kBegin;
  code += "  " + type + " x[8];\n  for (int i = 0; i < 8; ++i) x[i] = (" + type +
          ")(threadIdx.x * 7 + i + 1);\n  " + type + " y = (" + type + ")(threadIdx.x | 3);\n";
  code +=
      "  for (long long r = 0; r < a; ++r) {\n#pragma unroll\n    for (int k = 0; k < 32; ++k) {"
      "\n#pragma unroll\n      for (int i = 0; i < 8; ++i)\n        asm volatile(\"" +
      instruction + "\" : \"+" + constraint + "\"(x[i]) : \"" + constraint +
      "\"(y));\n    }\n  }\n";
  code += "  " + type +
          " s = 0;\n  for (int i = 0; i < 8; ++i) s += x[i];\n"
          "  if (s == (" +
          type + ")12345) out[4096 + threadIdx.x] = (unsigned long long)s;\n";
  return {name, code + kEnd};
}

std::string body(const std::string& name, const std::string& text) {
  return kernel_head(name) + kBegin + text + kEnd;
}

// Something for the clock to settle on: clocks and nanoseconds of `a` chains of 64 fma.
constexpr const char* kSpin = R"(
  Stopwatch watch;
  float x = threadIdx.x, y = (float)a;
  for (long long r = 0; r < a; ++r) {
    #pragma unroll
    for (int k = 0; k < 64; ++k) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(y));
  }
  if (x == 12345.f) out[4096] = 1;
  watch.stop(out);
})";

constexpr const char* kDependent = R"(
  float x = threadIdx.x, y = (float)a;
  for (long long r = 0; r < a; ++r) {
    #pragma unroll
    for (int k = 0; k < 64; ++k) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(y));
  }
  if (x == 12345.f) out[4096] = 1;
)";

constexpr const char* kSharedLatency = R"(
  __shared__ unsigned next[1024];
  unsigned base = (unsigned)__cvta_generic_to_shared(next);
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) next[i] = base + (i * 33 + 1) % 1024 * 4;
  __syncthreads();
  unsigned at = base;
  t = clock64();
  for (long long r = 0; r < a; ++r) {
    #pragma unroll
    for (int k = 0; k < 64; ++k) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at));
  }
  if (at == 12345) out[4096] = at;
)";

constexpr const char* kSharedBandwidth = R"(
  __shared__ uint4 block[1024];
  unsigned at = (unsigned)__cvta_generic_to_shared(block) + threadIdx.x * 16;
  block[threadIdx.x] = make_uint4(t, t * 3, t * 5, t * 7);
  __syncthreads();
  unsigned s = 0;
  t = clock64();
  for (long long r = 0; r < a; ++r) {
    #pragma unroll
    for (int k = 0; k < 16; ++k) {
      uint4 x;
      asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w) : "r"(at));
      s ^= x.x ^ x.y ^ x.z ^ x.w;
    }
  }
  if (s == 12345) out[4096] = s;
)";

constexpr const char* kBarrier = R"(
  for (long long r = 0; r < a; ++r) {
    #pragma unroll
    for (int k = 0; k < 16; ++k) asm volatile("bar.sync 0;" ::: "memory");
  }
)";

constexpr const char* kIssue = R"(
  float x[6];
  unsigned n[2] = {threadIdx.x, threadIdx.x + 7};
  const float y = (float)(threadIdx.x | 3);
  for (int i = 0; i < 6; ++i) x[i] = (float)(threadIdx.x + i);
  for (long long r = 0; r < a; ++r) {
    #pragma unroll
    for (int k = 0; k < 32; ++k) {
      #pragma unroll
      for (int i = 0; i < 6; ++i) {
        asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x[i]) : "f"(y));
        if (i % 3 == 2)
          asm volatile("shf.l.wrap.b32 %0, %0, %1, 7;" : "+r"(n[i / 3]) : "r"(threadIdx.x | 3));
      }
    }
  }
  float s = 0;
  for (int i = 0; i < 6; ++i) s += x[i];
  if (s == 12345.f && n[0] + n[1] == 12345u) out[4096] = 1;
)";

struct WarpForm {
  DType type;
  const char* instruction;
  bool integer;
};

constexpr WarpForm kWarpForms[] = {{DType::BF16, "m16n8k16.row.col.f32.bf16.bf16.f32", false},
                                   {DType::F16, "m16n8k16.row.col.f32.f16.f16.f32", false},
                                   {DType::TF32, "m16n8k8.row.col.f32.tf32.tf32.f32", false},
                                   {DType::I8, "m16n8k32.row.col.s32.s8.s8.s32", true}};

// Eight independent accumulators a warp; all operands are 32 bytes deep.
constexpr const char* kMma = R"(
  {result} d[8][4];
  unsigned f[6];
  unsigned x = (blockIdx.x * 1024 + threadIdx.x) * 2654435761u + 1;
  for (int i = 0; i < 6; ++i) {{
    float g[4];
    normal(x, g);
    unsigned w;
    {pack}
    f[i] = w;
  }}
  for (int i = 0; i < 32; ++i) d[i / 4][i % 4] = 0;
  for (long long r = 0; r < a; ++r) {{
    #pragma unroll
    for (int i = 0; i < 8; ++i)
      asm volatile("mma.sync.aligned.{instruction} {{%0, %1, %2, %3}}, "
                   "{{%4, %5, %6, %7}}, {{%8, %9}}, {{%0, %1, %2, %3}};"
                   : "+{c}"(d[i][0]), "+{c}"(d[i][1]), "+{c}"(d[i][2]), "+{c}"(d[i][3])
                   : "r"(f[0]), "r"(f[1]), "r"(f[2]), "r"(f[3]), "r"(f[4]), "r"(f[5]));
  }}
  {result} s = 0;
  for (int i = 0; i < 32; ++i) s += d[i / 4][i % 4];
  if (s == 12345) out[4096] = 1;
)";

KernelText mma(const WarpForm& form) {
  const std::string name = mma_name(form.type);
  const std::string text = fmt::format(kMma,
                                       fmt::arg("result", form.integer ? "int" : "float"),
                                       fmt::arg("c", form.integer ? "r" : "f"),
                                       fmt::arg("pack", pack_text(form.type)),
                                       fmt::arg("instruction", form.instruction));
  return {name, kNormal + body(name, text)};
}

}  // namespace

std::string mma_name(DType type) {
  return fmt::format("mma_{}", name(type));
}

std::vector<KernelText> core_kernels() {
  std::vector<KernelText> all = {
      lanes("lanes_fma", "float", "f", "fma.rn.f32 %0, %0, %1, %1;"),
      lanes("lanes_integer", "unsigned", "r", "shf.l.wrap.b32 %0, %0, %1, 7;"),
      lanes("lanes_special", "float", "f", "ex2.approx.ftz.f32 %0, %0;"),
      {"issue", body("issue", kIssue)},
      {"spin", kStopwatch + kernel_head("spin") + kSpin},
      {"dependent", body("dependent", kDependent)},
      {"shared_latency", body("shared_latency", kSharedLatency)},
      {"shared_bandwidth", body("shared_bandwidth", kSharedBandwidth)},
      {"barrier", body("barrier", kBarrier)}};
  for (const WarpForm& form : kWarpForms) all.push_back(mma(form));
  return all;
}

}  // namespace orrery::calibrate

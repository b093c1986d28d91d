// A work group of gfx942 on the host, to run emitted HIP code without the GPU. Stands in for the
// prelude of emit/hip: the same names, with meanings taken from the ISA manual.
// SPDX-License-Identifier: Apache-2.0
//
// Every lane is a fiber. A fiber runs until it needs others (a barrier, an exchange, a matrix
// instruction), then the next one runs. So races that barriers should prevent show up as wrong
// values only if they happen in this order; what is checked is which element lies where, masks,
// addresses, and that every value is written before it is read.
//
// For clang only (ext_vector_type), compiled by hip_values_slow_test.cpp together with the kernel.
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include <functional>
#include <memory>
#include <vector>

#define UNROLL
#define ROLLED

typedef unsigned short u16;
typedef u16 u16x2 __attribute__((ext_vector_type(2)));
typedef u16 u16x4 __attribute__((ext_vector_type(4)));
typedef u16 u16x8 __attribute__((ext_vector_type(8)));
typedef float f32x2 __attribute__((ext_vector_type(2)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x16 __attribute__((ext_vector_type(16)));
typedef char* lds_pointer;

namespace wave_emulator {

constexpr int kLanes = 64;
constexpr size_t kStack = 256 * 1024;

// Lanes that wait for each other.
struct Group {
  int size = 0;
  int arrived = 0;
  int generation = 0;
};

// What the lanes of a wave show each other.
struct Wave {
  Group group;
  float values[kLanes];
  u16x4 first[kLanes];
  u16x4 second[kLanes];
};

struct Stopped {
  jmp_buf state;
};

struct Machine {
  int threads = 0;
  int thread = 0;  // the running one
  int block = 0;
  int blocks = 0;
  Group group;
  std::vector<Wave> waves;
  std::vector<ucontext_t> starts;  // where fibers begin
  std::vector<bool> started;
  std::vector<Stopped> fibers;  // where they stopped
  std::vector<bool> done;
  ucontext_t host;
  std::function<void()> kernel;
};

inline Machine machine;

// Goes to a lane. Switching by setjmp costs no system call, which swapcontext does.
inline void enter(int to) {
  machine.thread = to;
  if (machine.started[to]) _longjmp(machine.fibers[to].state, 1);
  machine.started[to] = true;
  setcontext(&machine.starts[to]);
}

// The next lane that has not ended runs on; the host, if none is left.
inline void yield() {
  const int from = machine.thread;
  for (int step = 1; step <= machine.threads; ++step) {
    const int to = (from + step) % machine.threads;
    if (machine.done[to]) continue;
    if (to != from && _setjmp(machine.fibers[from].state) == 0) enter(to);
    return;
  }
  setcontext(&machine.host);
}

inline void wait(Group& group) {
  const int generation = group.generation;
  if (++group.arrived == group.size) {
    group.arrived = 0;
    ++group.generation;
    return;
  }
  while (group.generation == generation) yield();
}

inline void run_fiber() {
  machine.kernel();
  machine.done[machine.thread] = true;
  yield();
}

inline void run_block(std::vector<std::unique_ptr<char[]>>& stacks) {
  machine.group = {machine.threads, 0, 0};
  machine.waves.assign(machine.threads / kLanes, Wave{});
  for (Wave& wave : machine.waves) wave.group.size = kLanes;
  machine.done.assign(machine.threads, false);
  machine.started.assign(machine.threads, false);
  machine.fibers.resize(machine.threads);
  machine.starts.resize(machine.threads);
  for (int i = 0; i < machine.threads; ++i) {
    getcontext(&machine.starts[i]);
    machine.starts[i].uc_stack.ss_sp = stacks[i].get();
    machine.starts[i].uc_stack.ss_size = kStack;
    makecontext(&machine.starts[i], run_fiber, 0);
  }
  volatile bool back = false;
  getcontext(&machine.host);
  if (back) return;
  back = true;
  enter(0);
}

inline void launch(int blocks, int threads, std::function<void()> kernel) {
  machine.threads = threads;
  machine.blocks = blocks;
  machine.kernel = std::move(kernel);
  std::vector<std::unique_ptr<char[]>> stacks;
  for (int i = 0; i < threads; ++i) stacks.emplace_back(new char[kStack]);
  for (machine.block = 0; machine.block < blocks; ++machine.block) run_block(stacks);
}

inline Wave& wave() {
  return machine.waves[machine.thread / kLanes];
}

inline int lane() {
  return machine.thread % kLanes;
}

// The value that `from` shows.
inline float read_lane(float x, int from) {
  wave().values[lane()] = x;
  wait(wave().group);
  const float value = wave().values[from];
  wait(wave().group);
  return value;
}

// MI300 ISA, V_MFMA_F32_<M>X<M>X<K>: lane l holds row (column) l % M of an operand, elements
// 4 * (l / M) ... + 3 of the contraction; register i of the result is row
// i % 4 + 4 * (l / M) + 4 * (64 / M) * (i / 4), column l % M.
template <int M, int K, class Load, class Vector>
Vector multiply(u16x4 a, u16x4 b, Vector c, Load load) {
  const int own = lane();
  wave().first[own] = a;
  wave().second[own] = b;
  wait(wave().group);
  for (int i = 0; i < M * M / kLanes; ++i) {
    const int row = i % 4 + 4 * (own / M) + 4 * (kLanes / M) * (i / 4);
    float sum = c[i];
    for (int k = 0; k < K; ++k) {
      sum += load(wave().first[row + M * (k / 4)][k % 4]) *
             load(wave().second[own % M + M * (k / 4)][k % 4]);
    }
    c[i] = sum;
  }
  wait(wave().group);
  return c;
}

}  // namespace wave_emulator

#define __builtin_amdgcn_workitem_id_x() (wave_emulator::machine.thread)
#define __builtin_amdgcn_workgroup_id_x() (wave_emulator::machine.block)
#define __builtin_amdgcn_grid_size_x() \
  (wave_emulator::machine.blocks * wave_emulator::machine.threads)
#define __builtin_amdgcn_readfirstlane(x) (x)
#define __builtin_amdgcn_logf(x) log2f(x)
#define __builtin_amdgcn_sqrtf(x) sqrtf(x)
#define __builtin_amdgcn_rsqf(x) (1.0f / sqrtf(x))
#define __builtin_amdgcn_rcpf(x) (1.0f / (x))

template <class T>
T lds_read(lds_pointer at) {
  T x;
  memcpy(&x, at, sizeof(T));
  return x;
}

template <class T>
void lds_write(lds_pointer at, T x) {
  memcpy(at, &x, sizeof(T));
}

inline void sync() {
  wave_emulator::wait(wave_emulator::machine.group);
}

inline float load_f16(u16 x) {
  return (float)__builtin_bit_cast(_Float16, x);
}

inline u16 store_f16(float x) {
  return __builtin_bit_cast(u16, (_Float16)x);
}

inline float load_bf16(u16 x) {
  return __builtin_bit_cast(float, (unsigned)x << 16);
}

inline u16 store_bf16(float x) {
  const unsigned bits = __builtin_bit_cast(unsigned, x);
  return (u16)(x != x ? 0x7fc0u : (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

inline float fast_exp2(float x) {
  return exp2f(x);
}

inline float fast_exp(float x) {
  return expf(x);
}

inline float fast_tanh(float x) {
  return tanhf(x);
}

inline float fast_erf(float x) {
  return erff(x);
}

inline float quotient(float x, float y) {
  return x / y;
}

inline float sum_of(float x, float y) {
  return x + y;
}

inline float max_of(float x, float y) {
  return fmaxf(x, y);
}

template <int MASK>
float exchange(float x) {
  return wave_emulator::read_lane(x, wave_emulator::lane() ^ MASK);
}

// DPP controls of the MI300 ISA: quad_perm [1,0,3,2] and [2,3,0,1], row_half_mirror, row_mirror.
template <int CONTROL>
float permute(float x) {
  static_assert(CONTROL == 0xb1 || CONTROL == 0x4e || CONTROL == 0x141 || CONTROL == 0x140);
  const int lane = wave_emulator::lane();
  if (CONTROL == 0xb1) return wave_emulator::read_lane(x, lane ^ 1);
  if (CONTROL == 0x4e) return wave_emulator::read_lane(x, lane ^ 2);
  return wave_emulator::read_lane(x, CONTROL == 0x141 ? lane ^ 7 : lane ^ 15);
}

inline f32x16 mfma_m32n32k8_bf16(u16x4 a, u16x4 b, f32x16 c) {
  return wave_emulator::multiply<32, 8>(a, b, c, load_bf16);
}

inline f32x4 mfma_m16n16k16_bf16(u16x4 a, u16x4 b, f32x4 c) {
  return wave_emulator::multiply<16, 16>(a, b, c, load_bf16);
}

inline f32x16 mfma_m32n32k8_f16(u16x4 a, u16x4 b, f32x16 c) {
  return wave_emulator::multiply<32, 8>(a, b, c, load_f16);
}

inline f32x4 mfma_m16n16k16_f16(u16x4 a, u16x4 b, f32x4 c) {
  return wave_emulator::multiply<16, 16>(a, b, c, load_f16);
}

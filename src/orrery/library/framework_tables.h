// What a library file says of a framework's attention kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "orrery/base/quantity.h"
#include "orrery/machine/number_file.h"

namespace orrery::library {

/// One new token a sequence (framework_decode.h has the formula).
struct DecodeTable {
  std::string rule;        // how a sequence's keys are split among CTAs
  double rows = 0;         // query heads of a key head that a CTA takes
  double keys = 0;         // of a block
  double slots = 1;        // CTAs an SM holds
  double least_keys = 0;   // that a split has
  double most_splits = 0;  // of a sequence
  double unit = 0;         // clocks of a CTA beside its blocks,
  double unit_dim = 0;     // for each 128 of the head size,
  double unit_row = 0;     // for each query row of such
  double block = 0;        // clocks of a block of keys,
  double port = 0;         // beside its bytes over this rate
  double busy = 0;         // share of that time in which a CTA keeps its SM from others
  double overlap = 0;      // exponent: the CTAs' time with memory traffic
  double combine = 0;      // seconds that splits take beyond one, and each
  double combine_split = 0;
  double copy = 0;   // of each copy that packs heads (flash2) beyond its launch
  double fixed = 0;  // seconds beyond launches
  double error = 0;
};

/// Many new tokens a sequence (framework_prefill.h).
struct PrefillTable {
  std::string rule;  // which tiles the kernel has
  double rows = 0;
  double keys = 0;
  bool packed = false;      // query heads of a key head are rows of one tile
  bool absorbed = false;    // latent attention multiplies with the latent: 576 / 512, one key head
  bool window = true;       // blocks before the window are left out
  bool fp8_math = false;    // an fp8 cache makes the products fp8, whatever the queries are
  double unit = 0;          // clocks of a tile of queries beside its blocks,
  double unit_dim = 0;      // for each 128 of the head size
  double block = 0;         // clocks of a block,
  double tensor_share = 0;  // beside its products at this share of the chip's rate
  double score = 0;         // and so much a score;
  double odd = 1;           // times that where the head size is no multiple of 16
  double overlap = 0;
  double fixed = 0;
  double error = 0;
};

struct KernelTables {
  std::optional<DecodeTable> decode;
  std::optional<DecodeTable> decode_fp8;
  std::optional<PrefillTable> prefill;
  std::optional<PrefillTable> prefill_fp8;
};

/// What comes before the kernel.
struct PrologueTable {
  double share = 1;     // of the memory bandwidth that it reaches
  bool rotary = false;  // queries pass through it too
  double element = 0;   // clocks of an SM for each new element of keys and values
  double element_fp8 = 0;
  double unlike = 0;  // seconds more where values have another size than keys
};

struct FrameworkTables {
  std::string framework;
  PrologueTable prologue;
  std::map<std::string, KernelTables> kernels;
};

FrameworkTables read_framework(machine::NumberFile& file, const std::string& framework);

}  // namespace orrery::library

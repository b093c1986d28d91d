// Counting a few lines of disassembly and notes.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/emit/hip/counts.h"

#include <gtest/gtest.h>

namespace orrery::emit::hip {
namespace {

constexpr std::string_view kNotes = R"(amdhsa.kernels:
  - .agpr_count:     0
    .group_segment_fixed_size: 9216
    .private_segment_fixed_size: 16
    .sgpr_spill_count: 1
    .vgpr_count:     44
    .vgpr_spill_count: 2
)";

constexpr std::string_view kCode = R"(
0000000000001600 <k>:
	v_mfma_f32_32x32x8_bf16 a[16:31], v[6:7], v[8:9], a[16:31] // 0000000017A8: D3E08010
	ds_read_b128 v[6:9], v1                                    // 000000001790: D9FE0000
	ds_read2_b64 v[6:9], v1 offset1:4                          // 000000001790: D9FE0000
	ds_read_u16_d16_hi v6, v1                                  // 000000001790: D9FE0000
	ds_write_b64 v2, v[6:7]                                    // 000000001780: D9BE0000
	ds_bpermute_b32 v2, v3, v4                                 // 000000001780: D9BE0000
	s_endpgm
)";

TEST(CountObject, CountsAccessesAndBytes) {
  const ObjectCounts counts = count_object(kCode, kNotes).value();
  EXPECT_EQ(counts.code.matrix_instructions, 1);
  EXPECT_EQ(counts.code.shared_loads, 4);  // the paired one is two
  EXPECT_EQ(counts.code.shared_load_bytes, 16 + 2 * 8 + 2);
  EXPECT_EQ(counts.code.shared_stores, 1);
  EXPECT_EQ(counts.code.shared_store_bytes, 8);
  EXPECT_EQ(counts.code.lane_exchanges, 1);
  EXPECT_EQ(counts.code.shared_bytes, 9216);
  EXPECT_EQ(counts.vector_registers, 44);
  EXPECT_EQ(counts.spilled_registers, 3);
  EXPECT_EQ(counts.scratch_bytes, 16);
}

TEST(CountObject, RefusesUnknownInstructionsAndMissingOrDoubleNotes) {
  EXPECT_EQ(count_object("  ds_gws_init v0", kNotes).error().code, ErrorCode::ParseError);
  EXPECT_FALSE(count_object(kCode, "").ok());
  EXPECT_FALSE(count_object(kCode, std::string(kNotes) + std::string(kNotes)).ok());
}

}  // namespace
}  // namespace orrery::emit::hip

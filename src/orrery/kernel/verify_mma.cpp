// Rule mma: a matrix instruction that exists, on tiles and layouts that it takes.
// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "orrery/kernel/mma_layout.h"
#include "orrery/kernel/verify_internal.h"

namespace orrery::kernel::detail {
namespace {

// PTX ISA, wgmma, "shared memory matrix layout": rows of 128, 64, 32 or (unswizzled) 16 bytes.
constexpr int64_t kUnswizzledRow = 16;

class Product {
 public:
  Product(const Site& site, const Mma& mma, Report& report)
      : site_(site),
        mma_(mma),
        acc_(site.program[mma.acc]),
        first_(site.program[mma.first]),
        second_(site.program[mma.second]),
        report_(report) {}

  void check() {
    check_types();
    if (!find_axes()) return;
    check_accumulator();
    check_contraction();
    check_operand(first_, "first operand");
    check_operand(second_, "second operand");
  }

 private:
  template <class... Args>
  void offend(fmt::format_string<Args...> format, Args&&... args) {
    report_.add("mma", site_.who(), format, std::forward<Args>(args)...);
  }

  void check_types() {
    if (acc_.dtype != DType::F32 || acc_.space != Space::Fragment) {
      offend("got accumulator {} {} in {}, need f32 in registers",
             acc_.name,
             orrery::name(acc_.dtype),
             acc_.space == Space::Fragment ? "registers" : "shared memory");
    }
    if (first_.dtype != second_.dtype) {
      offend("got operands of types {} and {}, need one type",
             orrery::name(first_.dtype),
             orrery::name(second_.dtype));
    }
    pass_on(check_mma_shape(site_.program.target, mma_.shape, first_.dtype));
  }

  // The error of a layout function, as an offender of this statement.
  template <class T>
  bool pass_on(const Result<T>& result) {
    if (result.ok()) return true;
    constexpr std::string_view kTag = "[kernel.mma_layout] ";
    std::string_view text = result.error().message;
    if (text.starts_with(kTag)) text.remove_prefix(kTag.size());
    offend("{}", text);
    return false;
  }

  // acc [r, c], first [r, k], second [c, k], each in any order.
  bool find_axes() {
    for (const AxisId axis : acc_.axes) {
      if (has(first_.axes, axis) && !has(second_.axes, axis)) rows_ = axis;
      if (has(second_.axes, axis) && !has(first_.axes, axis)) columns_ = axis;
    }
    for (const AxisId axis : first_.axes) {
      if (has(second_.axes, axis) && !has(acc_.axes, axis)) contraction_ = axis;
    }
    const bool two = acc_.axes.size() == 2 && first_.axes.size() == 2 && second_.axes.size() == 2;
    if (two && rows_ && columns_ && contraction_) return true;
    offend("got {} += {} x {}, need [r, c] += [r, k] x [c, k] with one contracted axis k",
           axes_text(site_.program, acc_.axes),
           axes_text(site_.program, first_.axes),
           axes_text(site_.program, second_.axes));
    return false;
  }

  int64_t tile(AxisId axis) const { return site_.program[axis].tile; }

  // Warps of the accumulator along an axis, as its own layout says.
  int64_t warps_along(AxisId axis) const {
    int64_t warps = 1;
    for (const Digit& digit : acc_.fragment.digits) {
      if (digit.place == Place::Warp && digit.axis == axis) warps *= digit.extent;
    }
    return std::min(warps, kMaxWarps);
  }

  MmaSide rows() const { return {*rows_, tile(*rows_), row_warps_}; }

  MmaSide columns() const { return {*columns_, tile(*columns_), column_warps_}; }

  MmaSide contraction() const { return {*contraction_, tile(*contraction_), 1}; }

  void check_accumulator() {
    row_warps_ = warps_along(*rows_);
    column_warps_ = warps_along(*columns_);
    if (row_warps_ * column_warps_ != site_.stage().warps) {
      row_warps_ = site_.stage().warps;
      column_warps_ = 1;
    }
    if (acc_.space != Space::Fragment) return;
    compare(acc_,
            "accumulator",
            mma_accumulator_layout(site_.program.target, mma_.shape, rows(), columns()));
  }

  void compare(const Buffer& buffer, std::string_view what, const Result<FragmentLayout>& needed) {
    if (!pass_on(needed) || same_holders(buffer.fragment, *needed)) return;
    offend("{} {}: got {{ {} }}, need {{ {} }}",
           what,
           buffer.name,
           print(site_.program, buffer.fragment),
           print(site_.program, *needed));
  }

  void check_contraction() {
    if (tile(*contraction_) % mma_.shape.k == 0) return;
    offend("got tile {} of contracted axis {}, need a multiple of {}",
           tile(*contraction_),
           site_.program[*contraction_].name,
           mma_.shape.k);
  }

  void check_operand(const Buffer& operand, std::string_view what) {
    if (operand.space == Space::Shared) {
      check_shared(operand, what);
    } else if (&operand == &first_) {
      compare(operand,
              what,
              mma_first_operand_layout(
                  site_.program.target, mma_.shape, rows(), contraction(), column_warps_));
    } else {
      compare(operand,
              what,
              mma_second_operand_layout(
                  site_.program.target, mma_.shape, columns(), contraction(), row_warps_));
    }
  }

  // wgmma reads shared memory through a descriptor, which knows four widths of a swizzled row.
  void check_shared(const Buffer& operand, std::string_view what) {
    if (site_.program.target != Target::Sm90a) return;
    const SharedLayout& layout = operand.shared;
    const int64_t inner = layout.panel > 0 ? layout.panel : tile(operand.axes.back());
    const int64_t row = inner * element_bits(operand.dtype) / 8;
    if (layout.pad == 0 && row == (layout.swizzle > 0 ? layout.swizzle : kUnswizzledRow)) return;
    offend(
        "{} {}: got rows of {} bytes, swizzle {}, pad {}, need rows as wide as the swizzle (16 "
        "bytes without) and no pad",
        what,
        operand.name,
        row,
        layout.swizzle,
        layout.pad);
  }

  const Site& site_;
  const Mma& mma_;
  const Buffer& acc_;
  const Buffer& first_;
  const Buffer& second_;
  Report& report_;
  std::optional<AxisId> rows_;
  std::optional<AxisId> columns_;
  std::optional<AxisId> contraction_;
  int64_t row_warps_ = 1;
  int64_t column_warps_ = 1;
};

}  // namespace

void verify_mma(const Site& site, const Mma& mma, Report& report) {
  Product(site, mma, report).check();
}

}  // namespace orrery::kernel::detail

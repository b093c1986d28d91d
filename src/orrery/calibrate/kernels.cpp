// The table of all kernels.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/calibrate/kernels.h"

#include <map>
#include <string>

#include "orrery/base/check.h"

namespace orrery::calibrate {
namespace {

using Table = std::map<std::string, KernelText, std::less<>>;

const Table& table() {
  static const Table kTable = [] {
    Table all;
    for (auto* list : {memory_kernels,
                       core_kernels,
                       launch_kernels,
                       copy_kernels,
                       wgmma_kernels,
                       load_kernels}) {
      for (KernelText& text : list()) {
        std::string name = text.name;
        all.emplace(std::move(name), std::move(text));
      }
    }
    return all;
  }();
  return kTable;
}

}  // namespace

const KernelText& kernel(std::string_view name) {
  const auto found = table().find(name);
  ORR_CHECK(found != table().end()) << "no kernel " << std::string(name);
  return found->second;
}

std::vector<const KernelText*> all_kernels() {
  std::vector<const KernelText*> all;
  for (const auto& [name, text] : table()) all.push_back(&text);
  return all;
}

}  // namespace orrery::calibrate

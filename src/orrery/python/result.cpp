// base/result.h: error codes as exceptions.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/base/result.h"

#include "orrery/python/bindings.h"

namespace orrery::python {
namespace {

struct OrreryError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A C++ type a code, because nanobind maps types to Python classes.
template <ErrorCode Code>
struct CodeError : OrreryError {
  using OrreryError::OrreryError;
};

}  // namespace

void raise(const Error& error) {
  const std::string text = error.to_string();
  switch (error.code) {
    case ErrorCode::InvalidInput:
      throw CodeError<ErrorCode::InvalidInput>(text);
    case ErrorCode::ParseError:
      throw CodeError<ErrorCode::ParseError>(text);
    case ErrorCode::NotFound:
      throw CodeError<ErrorCode::NotFound>(text);
    case ErrorCode::Unsupported:
      throw CodeError<ErrorCode::Unsupported>(text);
    case ErrorCode::Infeasible:
      throw CodeError<ErrorCode::Infeasible>(text);
    case ErrorCode::IoError:
      throw CodeError<ErrorCode::IoError>(text);
  }
  ORR_UNREACHABLE();
}

void bind_result(nb::module_& m) {
  const nb::exception<OrreryError> base(m, "OrreryError");
  nb::exception<CodeError<ErrorCode::InvalidInput>>(m, "InvalidInputError", base);
  nb::exception<CodeError<ErrorCode::ParseError>>(m, "ParseError", base);
  nb::exception<CodeError<ErrorCode::NotFound>>(m, "NotFoundError", base);
  nb::exception<CodeError<ErrorCode::Unsupported>>(m, "UnsupportedError", base);
  nb::exception<CodeError<ErrorCode::Infeasible>>(m, "InfeasibleError", base);
  nb::exception<CodeError<ErrorCode::IoError>>(m, "OrreryIoError", base);
  // A failed check is a fault of Orrery, not of its caller.
  nb::exception<InternalError>(m, "InternalError");
}

}  // namespace orrery::python

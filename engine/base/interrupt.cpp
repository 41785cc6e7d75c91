#include "engine/base/interrupt.h"

#include <utility>

namespace farfield {
namespace {

thread_local Interruptible::IsDue question = nullptr;

}  // namespace

Interruptible::Interruptible(IsDue is_due) : before_(std::exchange(question, is_due)) {}
Interruptible::~Interruptible() { question = before_; }

Interruptible::IsDue interrupt_question() { return question; }

}  // namespace farfield

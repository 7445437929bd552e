#include "zero/core/error.h"

namespace zero {

MessageText::MessageText() : stream_(new std::ostringstream) {}
MessageText::~MessageText() { delete stream_; }
std::ostream& MessageText::out() { return *stream_; }
std::string MessageText::text() const { return stream_->str(); }

}  // namespace zero

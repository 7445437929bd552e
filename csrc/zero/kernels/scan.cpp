// Running sums and products. Each lane is added up one element after the other, so the order of the
// arithmetic is that of the elements on any number of threads; sums of float32 run in float64.
#include "zero/kernels/fold.inl"

namespace zero::ZERO_ISA_NS {
namespace {

template <class Op>
void scan(const ScanArgs& args) {
  using T = typename Op::In;
  using State = typename Op::State;
  const int64_t step = args.reverse ? -args.stride : args.stride;
  const int64_t first = args.reverse ? (args.n - 1) * args.stride : 0;
  const T* x = static_cast<const T*>(args.from) + first;
  T* y = static_cast<T*>(args.to) + first;
  State total[kScanLanes];
  for (int64_t j = 0; j < args.lanes; ++j) {
    total[j] = Op::lift(x[j], 0, 0);
    y[j] = x[j];
  }
  for (int64_t i = 1; i < args.n; ++i) {
    x += step;
    y += step;
    ZERO_SIMD
    for (int64_t j = 0; j < args.lanes; ++j) {
      total[j] = Op::combine(total[j], Op::lift(x[j], 0, 0));
      y[j] = static_cast<T>(total[j]);
    }
  }
}

template <class T>
void add_scans(KernelTable& table, ComputeType type) {
  table.scan[static_cast<int>(ScanOp::Sum)][static_cast<int>(type)] = scan<SumOp<T>>;
  table.scan[static_cast<int>(ScanOp::Prod)][static_cast<int>(type)] = scan<ProdOp<T>>;
}

}  // namespace

void fill_scan(KernelTable& table) {
  add_scans<float>(table, ComputeType::F32);
  add_scans<double>(table, ComputeType::F64);
  add_scans<int64_t>(table, ComputeType::I64);
  add_scans<int32_t>(table, ComputeType::I32);
}

}  // namespace zero::ZERO_ISA_NS

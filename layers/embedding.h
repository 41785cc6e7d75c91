#pragma once

#include "layers/init.h"
#include "layers/module.h"

namespace farfield {

/// A row of the table for each id. With tensor parallelism each process has some of the rows.
struct Embedding {
  Tensor weight;     ///< [V, D]
  Shard shard = {};  ///< the rows in this process
  Group group = {};  ///< the processes that have the others

  static Embedding make(const Initializer& init, const std::string& name, int64_t vocab_size,
                        int64_t d_model, double std);
  /// ids int32 [B, T] -> [B, T, D], rounded to dtype.
  Tensor operator()(const Tensor& ids, DType dtype) const;
  void visit(const std::string& name, const Visit& f) const;
};

}  // namespace farfield

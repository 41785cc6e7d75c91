#pragma once

#include "engine/rotation.h"
#include "engine/tensor.h"

namespace farfield {

/// Heads of queries, and heads of keys and values, each of which a group of neighbouring heads of
/// queries shares.
/// Source    grouped queries: Ainslie et al. 2023, "GQA", arXiv:2305.13245; one head of keys:
///           Shazeer 2019, arXiv:1911.02150
struct HeadCounts {
  int64_t n_head, n_kv_head;

  HeadCounts(int64_t of_all) : n_head(of_all), n_kv_head(of_all) {}  // NOLINT: a number is counts
  HeadCounts(int64_t of_queries, int64_t of_keys) : n_head(of_queries), n_kv_head(of_keys) {}

  bool is_grouped() const { return n_kv_head != n_head; }
  /// Heads of queries for each head of keys.
  int64_t group_size() const { return n_head / n_kv_head; }
  /// Heads in a row of a QKV projection: of queries, keys and values.
  int64_t n_part() const { return n_head + 2 * n_kv_head; }
};

/// The copies of q and k that far pairs take (AttentionRule::switch_distance), of the shapes of q
/// and k; both or none.
struct FarHeads {
  Tensor q = {}, k = {};
  bool defined() const { return q.defined() || k.defined(); }
};

/// Queries, keys and values by head: q [B, H, T, K], k and v [B, G, T, K], G of HeadCounts.
struct Heads {
  Tensor q = {}, k = {}, v = {};
  FarHeads far = {};  ///< undefined without Rotation::far
  /// Rows [begin, end) of each head of k, v and far.k are keys and values, where others are room
  /// for more (KeyValueCache); such heads have no gradients. An end of 0: all rows.
  struct KeyRows {
    int64_t begin = 0, end = 0;
  } key_rows = {};
  /// The output of a QKV projection, [B, T, 3 H K], if q, k and v lie in it. They then have their
  /// shapes and begin at their first rows, but the rows of a head are 3 H K elements apart, and the
  /// rows of neighbouring heads at one position 3 K: for kernels that know
  /// (attends_to_packed_heads()).
  Tensor packed = {};
  /// The rotation of q and k in packed heads, without far copies: gradients are for the heads
  /// before the rotation.
  Rotation turned_by = {};

  bool have_room() const { return key_rows.end > 0; }
  /// Keys of each head.
  int64_t n_key() const { return have_room() ? key_rows.end - key_rows.begin : k.dim(2); }
  /// The heads of qkv [B, T, 3 H K], laid out as [head][q | k | v][K].
  static Heads in(const Tensor& qkv, int64_t n_head) {
    const int64_t n_batch = qkv.dim(0), n = qkv.dim(1), head_dim = qkv.dim(2) / (3 * n_head);
    const Shape by_head{n_batch, n_head, n, head_dim};
    return {.q = qkv.view(by_head, 0),
            .k = qkv.view(by_head, head_dim),
            .v = qkv.view(by_head, 2 * head_dim),
            .packed = qkv};
  }
};

}  // namespace farfield

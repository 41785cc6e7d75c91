#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "posenc/encoding.h"
#include "posenc/length_cache.h"

namespace farfield::posenc {

/// The encodings of a model, as an expression such as "rope@0..-2 + window(16) + alibi" says.
///
/// Per layer, biases add, weights multiply, masks intersect and row scales multiply; the order of
/// the terms does not matter. The grammar is in expression.h and README.md. Not thread-safe, since
/// plan() keeps tables for later calls, but for bodies of one parallel_for().
class Composition {
 public:
  /// ConfigError, with the column and a caret, for an expression that cannot be parsed, an unknown
  /// encoding or argument, a value out of range, a layer that does not exist, two rotations or two
  /// input embeddings or two normalisers on one layer.
  Composition(std::string_view expression, const Config& config);
  ~Composition();
  Composition(Composition&&) noexcept;
  Composition& operator=(Composition&&) noexcept;

  /// The one text of this composition: terms sorted, arguments in a fixed order, those equal to
  /// their default left out, defaults that depend on the model written out. Parses to itself.
  const std::string& canonical() const { return canonical_; }
  const Config& config() const { return config_; }

  /// Another expression or model with the same values for parameters of the same name and shape;
  /// other parameters have their initial values.
  Composition with(std::string_view expression, const Config& config) const;
  /// with() for this expression in float64 on the CPU: to look at tables without the rounding of
  /// training.
  Composition widened() const;
  /// Copies values by the names of parameters(), where the shape is the same.
  void take(const std::map<std::string, Tensor>& values);

  struct Layer {
    Rotation rotation;  ///< tables [T, R/2] for the queries and their keys, or undefined; [B, T,
                        ///< R/2] where each sequence has positions of its own
    ScoreRule rule;     ///< tables [H, L] in Config::dtype
  };
  struct Plan {
    Tensor embedding;        ///< [T, D] or [B, T, D], added to the scaled token embedding; or
                             ///< undefined
    double token_scale = 1;  ///< the token embedding is multiplied by it
    std::vector<Layer> layers;
  };
  /// All tables of one forward pass, differentiable in the parameters. Layers with the same terms
  /// share the same tensors. The queries are the last n_query of n_key positions.
  /// Throws ShapeError unless 1 <= n_query <= n_key, ConfigError for a length that a term cannot
  /// reach, and for terms that do not fit together.
  Plan plan(int64_t n_query, int64_t n_key, Phase phase, const Draw& draw = {}) const;
  /// Where the queries and keys of a layer are after its remaps.
  Positions positions(int64_t layer, int64_t n_query, int64_t n_key, Phase phase,
                      const Draw& draw = {}) const;
  /// Whether plan() depends on the draw.
  bool is_random(Phase phase) const;

  /// Named "<term>.<parameter>" ("kerple_log.r1"), with share=layer
  /// "<term>.layer<i>.<parameter>"; a second term of one name is "<term>_2". None decays.
  std::vector<Parameter> parameters() const;
  /// Puts parameters back into their bounds; to be called after each optimizer step.
  void project();
  /// The learned parameters of one number per head, by their meaning: Encoding::head_parameters().
  std::vector<HeadParameter*> head_parameters();
  /// Encoding::decay() of the terms that a layer has, before bias_scale.
  std::vector<Decay> decays(int64_t layer, size_t head) const;

 private:
  struct Term;
  /// One encoding as a layer uses it.
  struct Part {
    const Encoding* encoding = nullptr;
    double bias_scale = 1;
    friend bool operator==(const Part&, const Part&) = default;
  };
  /// Layers that use the same parts.
  struct Group {
    std::vector<const Encoding*> remaps;  ///< classes P, P2, applied first
    std::vector<Part> fixed;              ///< without parameters: their tables are kept
    std::vector<Part> learned;            ///< computed in each plan
    friend bool operator==(const Group&, const Group&) = default;
  };
  void add_terms(std::string_view expression);
  void make_groups();
  /// In Config::dtype; undefined stays undefined.
  Tensor rounded(const Tensor& table) const;
  /// Merges the rule of one part into a layer.
  void add(const Part& part, const Positions& p, Layer& layer) const;
  /// The last step: rounds tables, and sets how they are read.
  void finish(const Group& group, const Positions& p, Layer& layer) const;
  Layer layer(size_t group, const Positions& plain) const;
  Embedding embed(const Positions& plain) const;

  Config config_;
  std::string canonical_;
  std::vector<Term> terms_;
  std::vector<Group> groups_;
  std::vector<size_t> group_of_layer_;
  mutable LengthCache<Layer> layer_cache_;
  mutable LengthCache<Embedding> embedding_cache_;
};

/// Short text for file names, [a-z0-9._-]: a beginning of Composition::canonical() and a hash of
/// all of it.
std::string slug_of(std::string_view canonical);

/// The name in checkpoints of a parameter in Composition::parameters().
std::string checkpoint_name(std::string_view parameter);
/// The other way; nothing for a tensor that is of no encoding.
std::optional<std::string> parameter_of(std::string_view checkpoint_name);

}  // namespace farfield::posenc

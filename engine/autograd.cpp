#include "engine/autograd.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "engine/base/interrupt.h"
#include "engine/kernels.h"

namespace farfield {

// A recorded op. `edges` lead to the nodes of the inputs; the closure holds no history, so only
// edges connect nodes, and a chain can be freed without recursion.
struct Node {
  struct Edge {
    std::shared_ptr<Node> node;  // the op that made the input, or
    int output_index = 0;
    Tensor leaf;  // the leaf itself
  };

  std::string op;
  uint64_t number = 0;  // order of creation: larger than the number of every node it depends on
  std::vector<Edge> edges;
  std::vector<Shape> output_shapes;
  std::vector<Tensor> dys;    // gradients that arrived so far, one per output
  bool hides_leaves = false;  // its backward reaches leaves that no edge leads to
  bool expects_column_sums = false;
  MultiBackwardFn backward;

  ~Node() { release(std::move(edges)); }

  // Destroys edges iteratively: a node owned by this edge alone gives its own edges to the list
  // before it goes.
  static void release(std::vector<Edge>&& edges) {
    std::vector<Edge> pending = std::move(edges);
    while (!pending.empty()) {
      const Edge edge = std::move(pending.back());
      pending.pop_back();
      if (edge.node != nullptr && edge.node.use_count() == 1) {
        std::move(edge.node->edges.begin(), edge.node->edges.end(), std::back_inserter(pending));
        edge.node->edges.clear();
      }
    }
  }
};

namespace {

thread_local bool enabled = true;
thread_local FindNonfinite* finder = nullptr;
thread_local LeafGradients* leaf_gradients = nullptr;
std::atomic<uint64_t> next_number{1};

bool all_finite(const Tensor& x) {
  if (!is_float(x.dtype())) return true;
  return dispatch(x.device(), [&](auto tag) { return is_finite(tag, x); });
}

// total += x, in place if total has no other owner.
void accumulate(Tensor& total, const Tensor& x) {
  if (!total.defined()) {
    total = x;
    return;
  }
  if (!total.is_sole_owner()) total = total.clone();
  dispatch(total.device(), [&](auto tag) { add_in_place(tag, x, total); });
}

}  // namespace

// Where the gradient of a leaf is added up.
struct LeafTarget {
  static void add(const Tensor& leaf, const Tensor& grad) {
    if (Tensor* const own = own_of(leaf)) return accumulate(*own, grad);
    Tensor total = leaf.grad();
    leaf.set_grad({});
    accumulate(total, grad);
    leaf.set_grad(std::move(total));
  }
  static bool has_gradient(const Tensor& leaf) {
    const Tensor* const own = own_of(leaf);
    return own != nullptr ? own->defined() : leaf.grad().defined();
  }

 private:
  // In the LeafGradients of this thread; nullptr: in the leaf.
  static Tensor* own_of(const Tensor& leaf) {
    if (leaf_gradients == nullptr) return nullptr;
    const auto found = leaf_gradients->numbers_.find(leaf.raw_data());
    return found == leaf_gradients->numbers_.end() ? nullptr
                                                   : &leaf_gradients->gradients_[found->second];
  }
};

namespace {

// How often each leaf is still to be added to.
class LeafUses {
 public:
  LeafUses(const Tensor& y, const LeafCalls& calls) : calls_(calls) {
    std::vector<const Node*> pending;
    std::unordered_set<const Node*> seen;
    const auto meet = [&](const Node* node) {
      if (node != nullptr && seen.insert(node).second) pending.push_back(node);
    };
    meet(y.node().get());
    while (!pending.empty()) {
      const Node* const node = pending.back();
      pending.pop_back();
      is_told_ = is_told_ && !node->hides_leaves;
      for (const Node::Edge& edge : node->edges) {
        meet(edge.node.get());
        if (edge.leaf.defined()) ++left_[edge.leaf.raw_data()];
      }
    }
  }

  // An edge to the leaf has been followed, whether or not it brought a gradient.
  void count(const Tensor& leaf) {
    if (--left_[leaf.raw_data()] == 0 && is_told_ && calls_.done && LeafTarget::has_gradient(leaf))
      calls_.done(leaf);
  }

  // The sum that the gradient of a leaf, if it is all of it, is to be added to.
  Tensor take_sum(const Tensor& leaf) {
    if (!is_told_ || !calls_.take_sum || left_[leaf.raw_data()] != 1) return {};
    return LeafTarget::has_gradient(leaf) ? Tensor() : calls_.take_sum(leaf);
  }

 private:
  const LeafCalls& calls_;
  std::unordered_map<const void*, int64_t> left_;
  bool is_told_ = true;
};

void run_backward(const std::vector<Tensor>& ys, const std::vector<Tensor>& dys, LeafUses* uses);

// The op whose backward function runs on this thread.
class Running {
 public:
  Running(const Node& node, LeafUses* uses)
      : node_(node), uses_(uses), before_(std::exchange(current, this)) {}
  ~Running() { current = before_; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  static thread_local const Running* current;
  Tensor take_sum(size_t input) const {
    const Tensor& leaf = node_.edges[input].leaf;
    return uses_ != nullptr && leaf.defined() ? uses_->take_sum(leaf) : Tensor();
  }

 private:
  const Node& node_;
  LeafUses* const uses_;
  const Running* const before_;
};
thread_local const Running* Running::current = nullptr;

}  // namespace

struct FiniteCheck {
  template <class... Parts>
  static void run(const Tensor& x, const Parts&... parts) {
    if (finder != nullptr && finder->found_.empty() && x.defined() && !all_finite(x))
      finder->found_ = concat(parts...);
  }
};

bool grad_enabled() { return enabled; }
NoGrad::NoGrad() : before_(std::exchange(enabled, false)) {}
NoGrad::~NoGrad() { enabled = before_; }
EnableGrad::EnableGrad() : before_(std::exchange(enabled, true)) {}
EnableGrad::~EnableGrad() { enabled = before_; }
FindNonfinite::FindNonfinite() : before_(std::exchange(finder, this)) {}
FindNonfinite::~FindNonfinite() { finder = before_; }
bool FindNonfinite::is_active() { return finder != nullptr; }
LeafGradients::LeafGradients(const Numbers& numbers)
    : numbers_(numbers), gradients_(numbers.size()), before_(std::exchange(leaf_gradients, this)) {}
LeafGradients::~LeafGradients() { leaf_gradients = before_; }

bool will_record(const std::vector<Tensor>& inputs) {
  return enabled &&
         std::any_of(inputs.begin(), inputs.end(), [](const Tensor& x) { return x.needs_grad(); });
}

void record(std::string_view op, const std::vector<Tensor*>& ys, const std::vector<Tensor>& inputs,
            MultiBackwardFn backward) {
  throw_if(interrupt_question());
  for (const Tensor* y : ys) FiniteCheck::run(*y, "output of ", op, ", shape ", y->shape());
  if (!will_record(inputs)) return;
  auto node = std::make_shared<Node>();
  node->op = op;
  node->number = next_number.fetch_add(1, std::memory_order_relaxed);
  for (const Tensor& x : inputs) {
    Node::Edge edge;
    if (x.requires_grad()) {
      edge.leaf = x;
    } else if (x.defined() && x.node() != nullptr) {
      edge.node = x.node();
      edge.output_index = x.output_index();
    }
    node->edges.push_back(std::move(edge));
  }
  for (size_t i = 0; i < ys.size(); ++i) {
    node->output_shapes.push_back(ys[i]->shape());
    ys[i]->set_node(node, static_cast<int>(i));
  }
  node->dys.resize(ys.size());
  node->backward = std::move(backward);
}

void record(std::string_view op, Tensor& y, const std::vector<Tensor>& inputs,
            BackwardFn backward) {
  record(op, std::vector<Tensor*>{&y}, inputs,
         [backward = std::move(backward)](const std::vector<Tensor>& dys) {
           return backward(dys[0]);
         });
}

void expect_column_sums(const Tensor& y) {
  if (y.node() != nullptr) y.node()->expects_column_sums = true;
}
bool expects_column_sums(const Tensor& x) {
  return x.defined() && x.node() != nullptr && x.node()->expects_column_sums;
}

void backward(const Tensor& y, Tensor dy) {
  if (!dy.defined()) {
    require<ShapeError>(y.numel() == 1, "backward",
                        "expected a scalar or an explicit dy, got shape ", y.shape());
    dy = Tensor::full(y.shape(), 1, y.dtype(), y.device());
  }
  backward(std::vector<Tensor>{y}, {dy});
}

void backward(const std::vector<Tensor>& ys, const std::vector<Tensor>& dys) {
  run_backward(ys, dys, nullptr);
}

void backward(const Tensor& y, const Tensor& dy, const LeafCalls& calls) {
  if (!calls.done && !calls.take_sum) return backward(y, dy);
  LeafUses uses(y, calls);
  run_backward({y}, {dy}, &uses);
}

Tensor take_sum_of_input(size_t input) {
  const Running* const running = Running::current;
  return running != nullptr && !FindNonfinite::is_active() ? running->take_sum(input) : Tensor();
}

namespace {

void run_backward(const std::vector<Tensor>& ys, const std::vector<Tensor>& dys, LeafUses* uses) {
  require<ShapeError>(ys.size() == dys.size(), "backward", "expected a dy for each of ", ys.size(),
                      " tensors, got ", dys.size());
  // Creation order is a topological order, so the pending node with the largest number has all its
  // gradients.
  std::map<uint64_t, std::shared_ptr<Node>> pending;
  const auto send = [&](const std::shared_ptr<Node>& node, int output, Tensor grad) {
    accumulate(node->dys[static_cast<size_t>(output)], grad);
    pending.emplace(node->number, node);
  };
  for (size_t i = 0; i < ys.size(); ++i) {
    const Tensor &y = ys[i], &dy = dys[i];
    if (!dy.defined()) continue;
    require<ShapeError>(y.needs_grad(), "backward",
                        "expected a tensor with gradient history; was it made under NoGrad?");
    require<ShapeError>(dy.shape() == y.shape(), "backward", "expected dy of shape ", y.shape(),
                        ", got ", dy.shape());
    if (y.node() != nullptr)
      send(y.node(), y.output_index(), dy);
    else
      LeafTarget::add(y, dy);
  }

  const NoGrad no_grad;
  while (!pending.empty()) {
    throw_if(interrupt_question());
    const auto last = std::prev(pending.end());
    const std::shared_ptr<Node> node = std::move(last->second);
    pending.erase(last);
    require<ShapeError>(node->backward != nullptr, "backward", "the history of ", node->op,
                        " has been used already; run the forward pass again");
    Grads grads;
    {
      const Running running(*node, uses);
      grads = node->backward(node->dys);
    }
    node->backward = nullptr;
    node->dys.assign(node->dys.size(), Tensor());
    require<ShapeError>(grads.size() == node->edges.size(), "backward", node->op, " has ",
                        node->edges.size(), " inputs and gave ", grads.size(), " gradients");
    for (size_t i = 0; i < grads.size(); ++i) {
      Node::Edge& edge = node->edges[i];
      if (grads[i].defined()) {
        FiniteCheck::run(grads[i], "gradient from ", node->op, ", input ", i, ", shape ",
                         grads[i].shape());
        if (edge.leaf.defined())
          LeafTarget::add(edge.leaf, grads[i]);
        else if (edge.node != nullptr)
          send(edge.node, edge.output_index, std::move(grads[i]));
        grads[i] = {};  // who is told of the leaf may want its gradient alone
      }
      if (uses != nullptr && edge.leaf.defined()) uses->count(edge.leaf);
    }
    Node::release(std::move(node->edges));
    node->edges.clear();
  }
}

}  // namespace

std::vector<Tensor> checkpoint(
    const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& f,
    const std::vector<Tensor>& inputs) {
  std::vector<Tensor> ys;
  {
    const NoGrad no_grad;
    ys = f(inputs);
  }
  std::vector<Tensor*> outputs;
  for (Tensor& y : ys) {
    y = y.detach();  // f may hand an input through
    outputs.push_back(&y);
  }
  std::vector<Tensor> kept;
  std::vector<bool> wanted;
  for (const Tensor& x : inputs) {
    kept.push_back(x.detach());
    wanted.push_back(x.needs_grad());
  }
  record("checkpoint", outputs, inputs, [f, kept, wanted](const std::vector<Tensor>& dys) {
    const EnableGrad enable;
    std::vector<Tensor> fresh;
    for (size_t i = 0; i < kept.size(); ++i) {
      fresh.push_back(kept[i].detach());
      if (wanted[i]) fresh.back().set_requires_grad();
    }
    backward(f(fresh), dys);
    Grads grads(fresh.size());
    for (size_t i = 0; i < fresh.size(); ++i)
      if (wanted[i]) grads[i] = fresh[i].grad();
    return grads;
  });
  for (const Tensor& y : ys)
    if (y.node() != nullptr) y.node()->hides_leaves = true;
  return ys;
}

}  // namespace farfield

"""Farfield's decoder for transformers.

The positional encoding is a set of tables that the exporter computed, so that no formula of an
encoding is here. Shape letters: B batch, T queries, S keys, D width, H heads, G heads of keys,
K components of a head, R components that turn.
"""

import math
from dataclasses import dataclass, fields

import torch
import torch.nn.functional as F
from torch import nn
from transformers import DynamicCache, GenerationMixin, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutputWithPast, CausalLMOutputWithPast

from .configuration_farfield import FarfieldConfig

# The library's word for the cache, which older versions call past_key_values.
OUTPUTS = {field.name for field in fields(CausalLMOutputWithPast)}
CACHE = "cache" if "cache" in OUTPUTS else "past_key_values"


class Tables(nn.Module):
    """Tensors of the encoding. They stay in float32 and int32, whatever the type of the model."""

    def __init__(self, described):
        super().__init__()
        for name, table in described.items():
            # Without a file's tables, as from_config() makes it, a model gives NaN.
            is_float = table["dtype"] == "float32"
            start = torch.full(table["shape"], math.nan if is_float else 0)
            self.register_buffer(name, start.to(getattr(torch, table["dtype"])))

    def _apply(self, fn, recurse=True):
        for name, table in self._buffers.items():
            moved = fn(table)
            same = moved.dtype == table.dtype
            self._buffers[name] = moved if same else table.to(moved.device)
        for child in self.children():
            child._apply(fn, recurse)
        return self


@dataclass
class Places:
    """Where the tokens of one call are. A batch whose rows are alike has one row here."""

    q: torch.Tensor  # int [B, T], positions of the queries
    k: torch.Tensor  # int [B, S], of the keys
    visible: torch.Tensor  # bool [B, T, S], by the causal mask and the mask of the call
    is_plain: bool  # the first tokens of a batch without padding

    @property
    def distance(self):
        return self.q[:, :, None] - self.k[:, None, :]


def places_of(n_past, n_query, mask, device):
    """The last n_query of n_past + n_query tokens; `mask` [B, S] has 0 for padding, which has no
    position: the first token after it is at position 0."""
    n_key = n_past + n_query
    if mask is not None and tuple(mask.shape[1:]) != (n_key,):
        raise ValueError(
            f"attention_mask: expected [batch, {n_key}], a number for each token with those in the "
            f"cache, got {list(mask.shape)}"
        )
    index = torch.arange(n_key, device=device)
    causal = (index[None, :] <= index[n_past:, None])[None]
    if mask is None or bool(mask.all()):
        positions = index[None]
        return Places(positions[:, n_past:], positions, causal, n_past == 0)
    shown = mask.to(torch.bool)
    positions = (shown.cumsum(-1) - 1).clamp(min=0)
    return Places(positions[:, n_past:], positions, causal & shown[:, None, :], False)


@dataclass
class Turn:
    """A rotation by angles whose cos and sin are [B, 1, T, R/2], and its factor."""

    cos: torch.Tensor
    sin: torch.Tensor
    scale: torch.Tensor | None
    interleaved: bool

    def __call__(self, x):
        half = self.cos.shape[-1]
        if self.interleaved:
            a, b = x[..., 0 : 2 * half : 2], x[..., 1 : 2 * half : 2]
        else:
            a, b = x[..., :half], x[..., half : 2 * half]
        turned = [a * self.cos - b * self.sin, a * self.sin + b * self.cos]
        if self.scale is not None:
            turned = [part * self.scale for part in turned]
        if self.interleaved:
            return torch.cat([torch.stack(turned, -1).flatten(-2), x[..., 2 * half :]], -1)
        return torch.cat([*turned, x[..., 2 * half :]], -1)


@dataclass
class Terms:
    """A rule for the pairs of one call. Absent terms are None."""

    visible: torch.Tensor  # bool [B, 1, T, S]
    is_causal: bool  # nothing but the causal mask, of queries that are all of the keys
    n_visible: torch.Tensor  # [B, 1, T, 1], keys that window and sinks show
    landmark_positions: tuple  # positions of queries and of keys
    row_scale: torch.Tensor | None = None  # [B, 1, T, 1]
    weight: torch.Tensor | None = None  # [B, H, T, S]
    bias: torch.Tensor | None = None  # [B, H, T, S]
    far: torch.Tensor | None = None  # bool [B, 1, T, S]
    turn_q: Turn | None = None
    turn_k: Turn | None = None
    far_turn_q: Turn | None = None
    far_turn_k: Turn | None = None


class Rule:
    """What the attention of a layer adds to the plain dot product, with d = m - n:

    score[h, m, n] = row_scale[m] (q_m . k_n) / sqrt(K) * weight[h, e] + bias[h, e]
                     + f_h(feature[d] row_factor[m])

    e is ids[m] - ids[n] where there are ids, else d. A pair with d >= switch_distance and
    m >= switch_position is far: it reads far_ids_q[m] - far_ids_k[n] and takes the q and k that the
    far angles turn, where these are given. f_h is linear between knots: slope[h, s] x +
    offset[h, s] in segment s. Key n is visible if d < window or n < sinks; a window of 0 is none.
    """

    def __init__(self, settings, tables):
        self.settings = settings
        self.tables = tables
        self.kind = settings["normalizer"]["kind"]
        self.parameter = settings["normalizer"]["parameter"]
        self.block = settings["normalizer"]["block"]
        self.window = settings["window"]
        # Softmax of a sum of a dot product and a bias: what fused kernels compute.
        self.is_additive = (
            self.kind == "softmax" and not self.has("weight") and not self.has("far_cos_q")
        )

    def has(self, use):
        return use in self.settings["tables"]

    def table(self, use):
        return getattr(self.tables, self.settings["tables"][use])

    def turn(self, of, positions):
        """The rotation of "q" or "k"."""
        return self.turn_by("cos", "sin", "scale_" + of, positions)

    def far_turn(self, of, positions):
        """That of the copies that far pairs take."""
        return self.turn_by("far_cos_" + of, "far_sin_" + of, None, positions)

    def turn_by(self, cos, sin, scale, positions):
        def at(use):
            return self.table(use)[positions][:, None] if self.has(use) else None

        if not self.has(cos):
            return None
        return Turn(at(cos), at(sin), at(scale), self.settings["interleaved"])

    def far_pairs(self, p):
        if self.settings["switch_distance"] == 0:
            return None
        is_late = p.q[:, :, None] >= self.settings["switch_position"]
        return (p.distance >= self.settings["switch_distance"]) & is_late

    def entries(self, p, far):
        entry = p.distance
        if self.has("ids"):
            ids = self.table("ids")
            entry = ids[p.q][:, :, None] - ids[p.k][:, None, :]
        if self.has("far_ids_q"):
            far_entry = self.table("far_ids_q")[p.q][:, :, None]
            far_entry = far_entry - self.table("far_ids_k")[p.k][:, None, :]
            entry = torch.where(far, far_entry, entry)
        return entry

    def row_bias(self, p):
        x = self.table("feature")[p.distance.clamp(min=0)]
        x = x * self.table("row_factor")[p.q][:, :, None]
        segment = torch.searchsorted(self.table("knots"), x, right=True)
        return look_up(self.table("slope"), segment) * x[:, None] + look_up(
            self.table("offset"), segment
        )

    def terms(self, p):
        m = p.q
        sinks = self.settings["sinks"]
        visible, n_visible = p.visible, m + 1
        if self.window > 0:
            visible = visible & ((p.distance < self.window) | (p.k[:, None, :] < sinks))
            with_sinks = self.window + (m + 1 - self.window).clamp(max=sinks)
            n_visible = torch.where(m < self.window, m + 1, with_sinks)
        far = self.far_pairs(p)
        entry = self.entries(p, far) if self.has("bias") or self.has("weight") else None
        bias = look_up(self.table("bias"), entry) if self.has("bias") else None
        if self.has("feature"):
            bias = self.row_bias(p) if bias is None else bias + self.row_bias(p)
        row_scale = self.table("row_scale")[m][:, None, :, None] if self.has("row_scale") else None
        return Terms(
            visible=visible[:, None],
            is_causal=p.is_plain and bias is None and self.window == 0,
            n_visible=n_visible[:, None, :, None],
            landmark_positions=(p.q[:, None, :, None], p.k[:, None, None, :]),
            row_scale=row_scale,
            weight=look_up(self.table("weight"), entry) if self.has("weight") else None,
            bias=bias,
            far=far[:, None] if self.has("far_cos_q") else None,
            turn_q=self.turn("q", p.q),
            turn_k=self.turn("k", p.k),
            far_turn_q=self.far_turn("q", p.q),
            far_turn_k=self.far_turn("k", p.k),
        )


def look_up(table, entry):
    """table [H, L] at entries [B, T, S]: [B, H, T, S]. Entries of hidden pairs may lie outside."""
    return table[:, entry.clamp(0, table.shape[1] - 1)].movedim(0, 1)


def softmax(score):
    """Softmax over the last dimension; a row that sees nothing gets zeros."""
    largest = score.amax(-1, keepdim=True).clamp(min=torch.finfo(score.dtype).min)
    share = (score - largest).exp()
    return share / share.sum(-1, keepdim=True).clamp(min=torch.finfo(score.dtype).tiny)


def landmark_softmax(score, m, n, block):
    """Softmax by groups. Token n is a landmark if n mod (block + 1) = block. One softmax is over
    the tokens of the query's own block and the landmarks of the blocks before, one more over the
    tokens of each of these; the share of their landmark multiplies it, and landmarks get none."""
    of_q, of_k = m // (block + 1), n // (block + 1)
    is_landmark = n % (block + 1) == block
    n_block = int(of_k.max()) + 1
    place = of_k.expand(score.shape)
    shape = (*score.shape[:-1], n_block)

    inner = score.masked_fill(is_landmark, -math.inf)
    largest = torch.full(shape, -math.inf, dtype=score.dtype, device=score.device)
    largest = largest.scatter_reduce(-1, place, inner.detach(), "amax")
    largest = largest.clamp(min=torch.finfo(score.dtype).min)
    share = (inner - largest.gather(-1, place)).exp()
    total = torch.zeros(shape, dtype=score.dtype, device=score.device)
    total = total.scatter_add(-1, place, share)
    inner = share / total.gather(-1, place).clamp(min=torch.finfo(score.dtype).tiny)

    # A block of which nothing is visible is hidden with its landmark.
    is_seen = total.gather(-1, place) > 0
    is_own = (of_k == of_q) & ~is_landmark
    is_outer = is_own | (is_landmark & (of_k < of_q) & is_seen)
    outer = softmax(score.masked_fill(~is_outer, -math.inf))
    gate = torch.zeros(shape, dtype=score.dtype, device=score.device)
    gate = gate.scatter_add(-1, place, outer * is_landmark)
    return torch.where(is_own, outer, inner * gate.gather(-1, place) * (of_k < of_q))


def probabilities(score, rule, terms):
    """P of a row of scores, hidden ones being -inf."""
    kind = rule.kind
    if kind == "softmax":
        return softmax(score)
    if kind in ("clamp_absolute", "clamp_relative"):
        largest = score.amax(-1, keepdim=True)
        absolute = largest.clamp(max=rule.parameter)
        threshold = absolute if kind == "clamp_absolute" else largest - rule.parameter
        return softmax(score.masked_fill(score < threshold, -math.inf))
    if kind == "landmark":
        return landmark_softmax(score, *terms.landmark_positions, rule.block)
    p = score.clamp(min=0)
    if kind == "relu":
        return p / (rule.parameter * (terms.n_visible / 2).sqrt())
    if kind == "relu_seqlen":
        return p / terms.n_visible
    if kind == "linear":
        return p / p.sum(-1, keepdim=True).clamp(min=torch.finfo(p.dtype).tiny)
    if kind == "relu_plain":
        return p
    raise ValueError(f"expected a known normaliser of attention, got {kind!r}")


def eager_attention(q, k, v, far_q, far_k, rule, terms):
    """q [B, H, T, K], k and v [B, H, S, K] in float32 -> [B, H, T, K]."""
    if rule.kind == "linear":
        q, k = F.elu(q) + 1, F.elu(k) + 1
        far_q, far_k = (F.elu(x) + 1 if x is not None else None for x in (far_q, far_k))
    score = q @ k.transpose(-1, -2)
    if far_q is not None:
        score = torch.where(terms.far, far_q @ far_k.transpose(-1, -2), score)
    score = score / math.sqrt(q.shape[-1])
    if terms.row_scale is not None:
        score = score * terms.row_scale
    if terms.weight is not None:
        score = score * terms.weight
    if terms.bias is not None:
        score = score + terms.bias
    return probabilities(score.masked_fill(~terms.visible, -math.inf), rule, terms) @ v


def fused_attention(q, k, v, dtype, terms):
    """The same for rules that only add."""
    if terms.row_scale is not None:
        q = q * terms.row_scale
    q, k, v = q.to(dtype), k.to(dtype), v.to(dtype)
    if terms.is_causal:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    bias = torch.zeros((), dtype=dtype, device=q.device) if terms.bias is None else terms.bias
    bias = bias.to(dtype).masked_fill(~terms.visible, -math.inf)
    sees = (bias > -math.inf).any(-1, keepdim=True)  # of the padding, rows that see nothing
    bias = bias.masked_fill(~sees, 0).expand(q.shape[0], q.shape[1], -1, -1)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=bias).masked_fill(~sees, 0)


class Attention(nn.Module):
    def __init__(self, config, layer):
        super().__init__()
        self.config, self.layer = config, layer
        self.n_head, self.n_group = config.num_attention_heads, config.num_key_value_heads
        self.head_dim = config.head_dim
        n_part = self.n_head + 2 * self.n_group
        self.query_key_value = nn.Linear(
            config.hidden_size, n_part * self.head_dim, bias=config.qkv_bias
        )
        self.dense = nn.Linear(
            self.n_head * self.head_dim, config.hidden_size, bias=config.dense_bias
        )

    def forward(self, x, rule, terms, cache):
        n_batch, n_query, _ = x.shape
        group_size = self.n_head // self.n_group
        # Rows are [group][q of its heads | k | v].
        parts = self.query_key_value(x).view(
            n_batch, n_query, self.n_group, group_size + 2, self.head_dim
        )
        q = parts[..., :-2, :].reshape(n_batch, n_query, self.n_head, self.head_dim).transpose(1, 2)
        k, v = parts[..., -2, :].transpose(1, 2), parts[..., -1, :].transpose(1, 2)
        if cache is not None:  # it holds keys before their rotation
            k, v = cache.update(k, v, self.layer)
        q = q.float()
        k, v = (y.float().repeat_interleave(group_size, dim=1) for y in (k, v))

        def turned(y, turn):
            return y if turn is None else turn(y)

        near_q, near_k = turned(q, terms.turn_q), turned(k, terms.turn_k)
        if self.config._attn_implementation == "sdpa" and rule.is_additive:
            out = fused_attention(near_q, near_k, v, x.dtype, terms)
        else:
            far_q = terms.far_turn_q(q) if terms.far_turn_q else None
            far_k = terms.far_turn_k(k) if terms.far_turn_k else None
            out = eager_attention(near_q, near_k, v, far_q, far_k, rule, terms)
        return self.dense(out.to(x.dtype).transpose(1, 2).reshape(n_batch, n_query, -1))


class Mlp(nn.Module):
    def __init__(self, config):
        super().__init__()
        d, d_ff, bias = config.hidden_size, config.intermediate_size, config.mlp_bias
        self.act = config.hidden_act
        if self.act == "silu":
            self.gate = nn.Linear(d, d_ff, bias=bias)
        self.dense_h_to_4h = nn.Linear(d, d_ff, bias=bias)
        self.dense_4h_to_h = nn.Linear(d_ff, d, bias=bias)

    def forward(self, x):
        y = self.dense_h_to_4h(x)
        if self.act == "silu":
            y = F.silu(self.gate(x)) * y
        elif self.act == "relu":
            y = F.relu(y)
        else:
            y = F.gelu(y, approximate="tanh" if self.act == "gelu_pytorch_tanh" else "none")
        return self.dense_4h_to_h(y)


def norm_of(config):
    if config.norm == "rms":
        return nn.RMSNorm(config.hidden_size, eps=config.norm_eps)
    return nn.LayerNorm(config.hidden_size, eps=config.norm_eps, bias=config.norm_bias)


class Block(nn.Module):
    def __init__(self, config, layer):
        super().__init__()
        self.is_parallel = config.parallel_residual
        self.input_layernorm = norm_of(config)
        self.attention = Attention(config, layer)
        self.post_attention_layernorm = norm_of(config)
        self.mlp = Mlp(config)

    def forward(self, x, rule, terms, cache):
        after = x + self.attention(self.input_layernorm(x), rule, terms, cache)
        return after + self.mlp(self.post_attention_layernorm(x if self.is_parallel else after))


class Band(nn.Embedding):
    """Embeddings of a band of the vocabulary, narrower than the model, and their projection."""

    def __init__(self, config, size, width):
        super().__init__(size, width)
        self.projection = nn.Linear(width, config.hidden_size, bias=False)

    def forward(self, ids):
        return self.projection(super().forward(ids))


class AdaptiveInput(nn.Module):
    """Token embeddings whose width falls from band to band."""

    def __init__(self, config):
        super().__init__()
        self.ends = [*config.cutoffs, config.vocab_size]
        begins = [0, *config.cutoffs]
        self.bands = nn.ModuleList(
            Band(config, end - begin, config.hidden_size // config.band_divisor**i)
            for i, (begin, end) in enumerate(zip(begins, self.ends))
        )

    def forward(self, ids):
        weight = self.bands[0].projection.weight
        x = torch.zeros(*ids.shape, weight.shape[0], dtype=weight.dtype, device=weight.device)
        begin = 0
        for band, end in zip(self.bands, self.ends):
            inside = (ids >= begin) & (ids < end)
            x = x.masked_scatter(inside[..., None], band(ids[inside] - begin))
            begin = end
        return x


class AdaptiveSoftmax(nn.Module):
    """Log probabilities by a head over the first band and the other bands, and a tail for each."""

    def __init__(self, config):
        super().__init__()
        self.clusters = nn.Linear(config.hidden_size, len(config.cutoffs), bias=False)

    def forward(self, x, bands):
        n_first = bands[0].weight.shape[0]
        head = F.linear(x, torch.cat([bands[0].weight, self.clusters.weight])).log_softmax(-1)
        parts = [head[..., :n_first]]
        for i, band in enumerate(bands[1:]):
            tail = F.linear(x @ band.projection.weight, band.weight).log_softmax(-1)
            parts.append(tail + head[..., n_first + i, None])
        return torch.cat(parts, -1)


def hold(module, name, shape):
    """A buffer of a dotted name below a module."""
    *path, last = name.split(".")
    for part in path:
        if part not in module._modules:
            module.add_module(part, Tables({}))
        module = module._modules[part]
    module.register_buffer(last, torch.zeros(shape, dtype=torch.float32))


class FarfieldPreTrainedModel(PreTrainedModel):
    config_class = FarfieldConfig
    base_model_prefix = "gpt_neox"
    _no_split_modules = ["Block"]
    _supports_sdpa = True


class FarfieldModel(FarfieldPreTrainedModel):
    """The decoder without its head."""

    def __init__(self, config):
        super().__init__(config)
        if config.encoding is None:
            raise ValueError("config.encoding: expected the tables that `model export` describes")
        d = config.hidden_size
        if config.cutoffs:
            self.embed_in = AdaptiveInput(config)
        else:
            self.embed_in = nn.Embedding(config.vocab_size, d)
        if config.embedding_norm:
            self.embed_in_layernorm = norm_of(config)
        self.layers = nn.ModuleList(Block(config, i) for i in range(config.num_hidden_layers))
        if config.final_norm:
            self.final_layer_norm = norm_of(config)
        self.encoding = Tables(config.encoding["tables"])
        self.rules = [Rule(rule, self.encoding) for rule in config.encoding["rules"]]
        for name, shape in config.encoding["parameters"].items():
            hold(self, name.removeprefix("gpt_neox."), shape)
        self.post_init()

    def get_input_embeddings(self):
        return self.embed_in

    def set_input_embeddings(self, value):
        self.embed_in = value

    def forward(
        self,
        input_ids=None,
        attention_mask=None,
        cache=None,
        inputs_embeds=None,
        use_cache=None,
        output_hidden_states=None,
        return_dict=None,
        past_key_values=None,
    ):
        """cache or past_key_values: keys and values of the tokens before, and then of these."""
        cache = past_key_values if cache is None else cache
        if (input_ids is None) == (inputs_embeds is None):
            raise ValueError("expected either input_ids or inputs_embeds")
        x = self.embed_in(input_ids) if inputs_embeds is None else inputs_embeds
        if use_cache if use_cache is not None else self.config.use_cache:
            cache = DynamicCache() if cache is None else cache
        n_past = 0 if cache is None else cache.get_seq_length()
        p = places_of(n_past, x.shape[1], attention_mask, x.device)
        length, most = int(p.k.max()) + 1, self.config.max_position_embeddings
        if length > most:
            raise ValueError(
                f"expected at most {most} tokens, which the tables of this model reach, got "
                f"{length}; `model export --length {length}` makes a folder that reaches them"
            )

        encoding = self.config.encoding
        if encoding["token_scale"] != 1:
            x = x * encoding["token_scale"]
        if encoding["embedding"] is not None:
            x = x + getattr(self.encoding, encoding["embedding"])[p.q].to(x.dtype)
        if self.config.embedding_norm:
            x = self.embed_in_layernorm(x)
        terms = [rule.terms(p) for rule in self.rules]
        states = [x]
        for block, i in zip(self.layers, encoding["layers"]):
            x = block(x, self.rules[i], terms[i], cache)
            states.append(x)
        if self.config.final_norm:
            x = states[-1] = self.final_layer_norm(x)
        if output_hidden_states is None:
            output_hidden_states = self.config.output_hidden_states
        out = BaseModelOutputWithPast(
            last_hidden_state=x,
            hidden_states=tuple(states) if output_hidden_states else None,
            **{CACHE: cache},
        )
        return out if return_dict is None or return_dict else out.to_tuple()


class FarfieldForCausalLM(FarfieldPreTrainedModel, GenerationMixin):
    _tied_weights_keys = {"embed_out.weight": "gpt_neox.embed_in.weight"}

    def __init__(self, config):
        super().__init__(config)
        self.gpt_neox = FarfieldModel(config)
        if config.cutoffs:
            self.embed_out = AdaptiveSoftmax(config)
        else:
            self.embed_out = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()

    def get_output_embeddings(self):
        return None if self.config.cutoffs else self.embed_out

    def set_output_embeddings(self, value):
        self.embed_out = value

    def forward(
        self,
        input_ids=None,
        attention_mask=None,
        cache=None,
        inputs_embeds=None,
        labels=None,
        use_cache=None,
        output_hidden_states=None,
        return_dict=None,
        logits_to_keep=0,
        past_key_values=None,
        cache_position=None,
    ):
        """labels [B, T]: the tokens themselves, or -100 where no loss is wanted. cache_position, of
        older versions, says what the cache knows."""
        out = self.gpt_neox(
            input_ids,
            attention_mask=attention_mask,
            cache=past_key_values if cache is None else cache,
            inputs_embeds=inputs_embeds,
            use_cache=use_cache,
            output_hidden_states=output_hidden_states,
        )
        kept = slice(-logits_to_keep, None) if isinstance(logits_to_keep, int) else logits_to_keep
        x = out.last_hidden_state[:, kept]
        logits = (
            self.embed_out(x, self.gpt_neox.embed_in.bands)
            if self.config.cutoffs
            else self.embed_out(x)
        )
        loss = None
        if labels is not None:
            next_logits, next_ids = logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten()
            loss = F.cross_entropy(next_logits.float(), next_ids.to(logits.device))
        made = CausalLMOutputWithPast(
            loss=loss,
            logits=logits,
            hidden_states=out.hidden_states,
            **{CACHE: getattr(out, CACHE)},
        )
        return made if return_dict is None or return_dict else made.to_tuple()

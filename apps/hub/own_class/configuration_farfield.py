"""The settings of a Farfield model: its sizes and parts, and how its tables are to be read."""

from transformers import PretrainedConfig


class FarfieldConfig(PretrainedConfig):
    """What config.json says.

    `encoding` describes the positional encoding for up to `max_position_embeddings` tokens:

    tables      name -> {"shape", "dtype"} of each tensor `gpt_neox.encoding.NAME`
    embedding   the table that is added to the input, or null
    token_scale the factor of the token embeddings before that
    rules       what attention adds to the dot product: see modeling_farfield.Rule
    layers      the rule of each layer, by its place in `rules`
    parameters  name -> shape of the learned values that the tables were made of

    `posenc` is the expression that the tables are of, for people and for `model import`.
    """

    model_type = "farfield"
    keys_to_ignore_at_inference = ["past_key_values"]

    def __init__(
        self,
        vocab_size=320,
        hidden_size=128,
        intermediate_size=512,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        head_dim=32,
        hidden_act="gelu",
        norm="layer",
        norm_eps=1e-5,
        norm_bias=True,
        qkv_bias=True,
        dense_bias=True,
        mlp_bias=True,
        parallel_residual=False,
        embedding_norm=False,
        final_norm=True,
        scaled_embedding=False,
        cutoffs=(),
        band_divisor=4,
        max_position_embeddings=512,
        train_length=128,
        posenc="none",
        encoding=None,
        use_cache=True,
        tie_word_embeddings=False,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=None,
        **kwargs,
    ):
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.intermediate_size = intermediate_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        self.num_key_value_heads = num_key_value_heads
        self.head_dim = head_dim
        self.hidden_act = hidden_act
        self.norm = norm
        self.norm_eps = norm_eps
        self.norm_bias = norm_bias
        self.qkv_bias = qkv_bias
        self.dense_bias = dense_bias
        self.mlp_bias = mlp_bias
        self.parallel_residual = parallel_residual
        self.embedding_norm = embedding_norm
        self.final_norm = final_norm
        self.scaled_embedding = scaled_embedding
        self.cutoffs = list(cutoffs)
        self.band_divisor = band_divisor
        self.max_position_embeddings = max_position_embeddings
        self.train_length = train_length
        self.posenc = posenc
        self.encoding = encoding
        super().__init__(
            tie_word_embeddings=tie_word_embeddings,
            bos_token_id=bos_token_id,
            eos_token_id=eos_token_id,
            pad_token_id=pad_token_id,
            **kwargs,
        )
        self.use_cache = use_cache

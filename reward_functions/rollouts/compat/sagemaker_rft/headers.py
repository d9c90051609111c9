"""Headers of policy calls: the names of `sagemaker.train.rft.headers`."""

from reward_functions.rollouts.request.headers import get_inference_headers, make_inference_headers

__all__ = ["get_inference_headers", "make_inference_headers"]

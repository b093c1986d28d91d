# The stages behind ./ci and the runner that times and counts them.
# SPDX-License-Identifier: Apache-2.0

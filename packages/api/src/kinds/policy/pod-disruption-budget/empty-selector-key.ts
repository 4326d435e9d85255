/** A label that no pod has: by it a selector says that it selects none, as an empty one did in policy/v1beta1. Upstream's name. */
export const emptySelectorKey = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match'

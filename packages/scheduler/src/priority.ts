import type { Pod } from '@coracle/api'

/** How important a pod is; 0 where it does not say. */
export const priorityOf = ({ spec }: Pod): number => spec.priority ?? 0

import type { Container, Pod } from '@coracle/api'

/** Whether a pod says how much of the disk of its node it takes at most: only of such ones is it measured. */
export const limitsStorage = ({ spec }: Pod): boolean =>
  spec.volumes?.some(({ emptyDir }) => emptyDir?.sizeLimit !== undefined) === true ||
  [spec, ...(spec.initContainers ?? []), ...spec.containers].some(isLimited)

const isLimited = ({ resources }: Pick<Container, 'resources'>): boolean =>
  resources?.limits?.['ephemeral-storage'] !== undefined

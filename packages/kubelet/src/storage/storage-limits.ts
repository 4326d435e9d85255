import { type Container, type Pod, quantityValue, type Volume } from '@coracle/api'

/** The resource that is disk of a node, as long as the pod lives. */
export const localStorage = 'ephemeral-storage'

/** How many bytes an `emptyDir` may hold; undefined where nothing is said, and for other volumes. */
export function sizeLimitOf({ emptyDir }: Volume): number | undefined {
  const bytes = emptyDir?.sizeLimit === undefined ? 0 : quantityValue(emptyDir.sizeLimit)
  return bytes > 0 ? bytes : undefined
}

/** Whether a pod says how much of the disk of its node it takes at most: only of such ones is it measured. */
export const limitsStorage = ({ spec }: Pod): boolean =>
  spec.volumes?.some((volume) => sizeLimitOf(volume) !== undefined) === true ||
  [spec, ...(spec.initContainers ?? []), ...spec.containers].some(isLimited)

const isLimited = ({ resources }: Pick<Container, 'resources'>): boolean =>
  resources?.limits?.[localStorage] !== undefined

import type { KubernetesObject } from './meta.ts'

/** The newest of the classes that are marked as the default, by name where two are as new: so upstream chooses. */
export function newestOf<T extends KubernetesObject>(classes: readonly T[]): T | undefined {
  const age = ({ metadata }: T): string => metadata.creationTimestamp ?? ''
  const nameOf = ({ metadata }: T): string => metadata.name ?? ''
  return classes.reduce<T | undefined>((best, each) => {
    if (best === undefined || age(each) > age(best)) return each
    return age(each) === age(best) && nameOf(each) < nameOf(best) ? each : best
  }, undefined)
}

import type { PodSpec } from '../kinds/core/pod/pod-spec.ts'
import type { Demanding } from './pod-resources.ts'

/**
 * `compute`, which is called once for all pods of a template: they share their containers, whatever else of them differs.
 * What comes of it is kept once for them, for as long as one of them is. `compute` sees only what says what a pod takes of a
 * node.
 */
export function oncePerTemplate<T>(compute: (spec: Demanding) => T): (spec: Demanding) => T {
  const known = new WeakMap<PodSpec['containers'], { readonly spec: Demanding; readonly value: T }>()
  return ({ containers, initContainers, resources, overhead }) => {
    const before = known.get(containers)
    if (
      before !== undefined &&
      before.spec.initContainers === initContainers &&
      before.spec.resources === resources &&
      before.spec.overhead === overhead
    ) {
      return before.value
    }
    const spec: Demanding = { containers, initContainers, resources, overhead }
    const value = compute(spec)
    known.set(containers, { spec, value })
    return value
  }
}

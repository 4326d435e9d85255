import type { KubernetesObject } from '../../meta.ts'
import type { ScaleMapping } from '../../resource.ts'
import { type LabelSelectorObject, selectorFromLabelSelector } from '../../selectors.ts'

/** What has a number of pods, picked by a selector of its own. */
interface Scalable extends KubernetesObject {
  readonly spec: { readonly replicas?: number | undefined; readonly selector: LabelSelectorObject }
  readonly status?: { readonly replicas?: number | undefined } | undefined
}

/** The scale of kinds whose pods are found by `spec.selector`. */
export function selectorScale<T extends Scalable>(): ScaleMapping<T> {
  return {
    replicas: ({ spec }) => spec.replicas ?? 1,
    statusReplicas: ({ status }) => status?.replicas ?? 0,
    selector: ({ spec }) => selectorFromLabelSelector(spec.selector).toString(),
    withReplicas: (object, replicas) => ({ ...object, spec: { ...object.spec, replicas } }),
  }
}

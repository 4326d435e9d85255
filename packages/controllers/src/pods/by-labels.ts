import { type LabelSelectorMatcher, type Pod, pods } from '@coracle/api'
import { filedByLabels, type Lookup, selected } from '@coracle/controller-runtime'

const labelsIndexName = 'labels'

/** The index that a cache of pods must have for `selectedPods`. Those who share the cache share it. */
export const podLabelsIndex = { [labelsIndexName]: filedByLabels }

/** The pods of a namespace that a selector selects, in any state. */
export function selectedPods(
  lookup: Lookup,
  namespace: string | undefined,
  selector: LabelSelectorMatcher,
): readonly Pod[] {
  return selected(lookup.informer(pods), labelsIndexName, namespace, selector)
}

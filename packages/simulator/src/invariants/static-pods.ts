import type { Pod } from '@coracle/api'
import type { GivenPods } from '../manifests.ts'
import { type Invariant, isReady, labelOf, type View } from '../view.ts'

const mirrorAnnotation = 'kubernetes.io/config.mirror'

/** Whether a pod only shows one that a node was given in a file. */
export const isMirror = ({ metadata }: Pod): boolean => metadata.annotations?.[mirrorAnnotation] !== undefined

/** What is promised of pods that nodes are given in files. */
export function staticPodInvariants(given: () => GivenPods): readonly Invariant[] {
  return [
    {
      name: 'in the end every pod of a file runs, and is shown',
      finally: (view) => [...given()].flatMap(([node, pods]) => missing(node, pods, view)),
    },
    {
      name: 'in the end a pod goes with its file',
      finally: (view) =>
        view
          .list<Pod>('Pod')
          .filter(isMirror)
          .filter(({ metadata, spec: { nodeName = '' } }) => {
            const names = [...(given().get(nodeName)?.keys() ?? [])].map((name) => `${name}-${nodeName}`)
            return !names.includes(metadata.name ?? '')
          })
          .map((pod) => `${labelOf(pod)} has no file`),
    },
  ]
}

function missing(node: string, pods: ReadonlyMap<string, string>, view: View): readonly string[] {
  return [...pods].flatMap(([name, image]) => {
    const pod = view.find('Pod', 'default', `${name}-${node}`) as Pod | undefined
    if (pod === undefined || !isMirror(pod)) return [`${name} of ${node} is not shown`]
    const shown = pod.spec.containers[0]?.image
    const runs = pod.status?.containerStatuses?.[0]?.image
    const isAsGiven = shown === image && runs === image && isReady(pod) && pod.metadata.deletionTimestamp === undefined
    return isAsGiven ? [] : [`${name} of ${node} is of ${image}; shown is ${shown}, and ${runs} runs`]
  })
}

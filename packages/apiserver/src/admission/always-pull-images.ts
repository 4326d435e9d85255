import type { Container, KubernetesObject, Pod } from '@coracle/api'
import type { AdmissionAttributes, AdmissionPlugin } from './admission.ts'
import { forbiddenByAdmission } from './forbidden.ts'
import { writesPod } from './pods.ts'

/** The lists of a pod that hold containers. */
const lists = ['initContainers', 'containers', 'ephemeralContainers'] as const

type Lists = Partial<Record<(typeof lists)[number], readonly Container[]>>

/**
 * Every container pulls its image each time: an image that is on a node already is for none but those who may pull it. An update that
 * brings no new image is left as it is.
 */
export const alwaysPullImages: AdmissionPlugin = {
  name: 'AlwaysPullImages',
  mutate(attributes, object) {
    if (!bringsImages(attributes, object)) return object
    const { spec } = object as Pod
    const changed = lists.flatMap((list) => {
      const containers = (spec as Lists)[list]
      if (containers === undefined || containers.every(pullsAlways)) return []
      return [[list, containers.map((each) => ({ ...each, imagePullPolicy: 'Always' }))] as const]
    })
    if (changed.length === 0) return object
    return { ...object, spec: { ...spec, ...Object.fromEntries(changed) } } as KubernetesObject
  },
  validate(attributes, object) {
    if (!bringsImages(attributes, object)) return
    const { spec } = object as Pod
    for (const list of lists) {
      for (const [index, container] of ((spec as Lists)[list] ?? []).entries()) {
        if (pullsAlways(container)) continue
        const policy = JSON.stringify(container.imagePullPolicy ?? '')
        const why = `spec.${list}[${index}].imagePullPolicy: Unsupported value: ${policy}: supported values: "Always"`
        throw forbiddenByAdmission(attributes, object, why)
      }
    }
  },
}

const pullsAlways = ({ imagePullPolicy }: Container): boolean => imagePullPolicy === 'Always'

function bringsImages(attributes: AdmissionAttributes, object: KubernetesObject | undefined): boolean {
  if (!writesPod(attributes) || object === undefined) return false
  if (attributes.operation === 'CREATE') return true
  const old = new Set(imagesOf(attributes.old as Pod))
  return imagesOf(object as Pod).some((image) => !old.has(image))
}

const imagesOf = ({ spec }: Pod): readonly string[] =>
  lists.flatMap((list) => ((spec as Lists)[list] ?? []).map(({ image = '' }) => image))

import type { Container, KubernetesObject, Pod } from '@coracle/api'
import type { AdmissionAttributes, AdmissionPlugin } from './admission.ts'
import { forbiddenByAdmission } from './forbidden.ts'
import { writesPod } from './pods.ts'

/** The lists of a pod that hold containers. */
const lists = ['initContainers', 'containers', 'ephemeralContainers'] as const

type Lists = Partial<Record<(typeof lists)[number], readonly Container[]>>

/**
 * Every container pulls its image each time, and so does every volume that is an image: an image that is on a node already is for none but those who may pull it. An update that
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
    const { volumes } = spec
    const isLax = volumes?.some(isPulledSometimes) === true
    if (changed.length === 0 && !isLax) return object
    const pulled = isLax ? { volumes: volumes?.map(pullingAlways) } : {}
    return { ...object, spec: { ...spec, ...Object.fromEntries(changed), ...pulled } } as KubernetesObject
  },
  validate(attributes, object) {
    if (!bringsImages(attributes, object)) return
    const { spec } = object as Pod
    for (const list of lists) {
      for (const [index, container] of ((spec as Lists)[list] ?? []).entries()) {
        if (pullsAlways(container)) continue
        throw forbiddenByAdmission(
          attributes,
          object,
          unsupported(`spec.${list}[${index}].imagePullPolicy`, container.imagePullPolicy),
        )
      }
    }
    for (const [index, volume] of (spec.volumes ?? []).entries()) {
      if (!isPulledSometimes(volume)) continue
      throw forbiddenByAdmission(
        attributes,
        object,
        unsupported(`spec.volumes[${index}].image.pullPolicy`, volume.image?.pullPolicy),
      )
    }
  },
}

type Volume = NonNullable<Pod['spec']['volumes']>[number]

const isPulledSometimes = ({ image }: Volume): boolean => image !== undefined && image.pullPolicy !== 'Always'

const pullingAlways = (volume: Volume): Volume =>
  isPulledSometimes(volume) ? { ...volume, image: { ...volume.image, pullPolicy: 'Always' } } : volume

const unsupported = (path: string, policy = ''): string =>
  `${path}: Unsupported value: ${JSON.stringify(policy)}: supported values: "Always"`

const pullsAlways = ({ imagePullPolicy }: Container): boolean => imagePullPolicy === 'Always'

function bringsImages(attributes: AdmissionAttributes, object: KubernetesObject | undefined): boolean {
  if (!writesPod(attributes) || object === undefined) return false
  if (attributes.operation === 'CREATE') return true
  const old = new Set(imagesOf(attributes.old as Pod))
  return imagesOf(object as Pod).some((image) => !old.has(image))
}

const imagesOf = ({ spec }: Pod): readonly string[] =>
  lists.flatMap((list) => ((spec as Lists)[list] ?? []).map(({ image = '' }) => image))

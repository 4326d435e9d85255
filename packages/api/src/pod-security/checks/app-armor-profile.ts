import { type Check, containersOf, type PodCheck } from '../check.ts'
import { distinct, plural, quoted, settersText } from '../wording.ts'

/** How profiles were named before there were fields for them. */
const annotationPrefix = 'container.apparmor.security.beta.kubernetes.io/'

const check: PodCheck = (pod) => {
  const ofPod = forbiddenType(pod.spec.securityContext)
  const ofContainers = containersOf(pod).flatMap(({ name, securityContext }) => {
    const type = forbiddenType(securityContext)
    return type === undefined ? [] : [{ name, type }]
  })
  const annotations = Object.entries(pod.annotations)
    .filter(([key, value]) => key.startsWith(annotationPrefix) && !isAllowedValue(value))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
  const types = distinct([...(ofPod === undefined ? [] : [ofPod]), ...ofContainers.map(({ type }) => type)])
  const values = [...types, ...distinct(annotations)]
  if (values.length === 0) return undefined
  const setters = settersText(
    ofPod !== undefined,
    ofContainers.map(({ name }) => name),
  )
  const annotating = annotations.length === 0 ? [] : [plural('annotation', 'annotations', annotations)]
  return {
    reason: plural('forbidden AppArmor profile', 'forbidden AppArmor profiles', values),
    detail: `${[...(setters === '' ? [] : [setters]), ...annotating].join(' and ')} must not set AppArmor profile type to ${quoted(values)}`,
  }
}

function forbiddenType(
  context: { readonly appArmorProfile?: { readonly type: string } | undefined } | undefined,
): string | undefined {
  const type = context?.appArmorProfile?.type
  return type === 'RuntimeDefault' || type === 'Localhost' ? undefined : type
}

function isAllowedValue(value: string): boolean {
  return value === '' || value === 'runtime/default' || value.startsWith('localhost/')
}

/** Nobody does without the AppArmor profile that containers have by default, but for one of the node's own. */
export const appArmorProfile: Check = { id: 'appArmorProfile', level: 'baseline', versions: [{ since: 0, check }] }

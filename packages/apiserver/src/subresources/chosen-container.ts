import { badRequest, type Pod } from '@coracle/api'

/** The container meant; a pod with one needs not be told which. Throws a BadRequest in upstream's words where it is not clear. */
export function chosenContainer(pod: Pod, wanted: string): string {
  const { initContainers = [], containers, ephemeralContainers = [] } = pod.spec
  const name = pod.metadata.name ?? ''
  const all = [...initContainers, ...containers, ...ephemeralContainers].map((container) => container.name)
  if (wanted !== '') {
    if (all.includes(wanted)) return wanted
    throw badRequest(`container ${wanted} is not valid for pod ${name}`)
  }
  const [only] = all
  if (all.length === 1 && only !== undefined) return only
  const choices = (list: readonly { readonly name: string }[]): string => list.map((each) => each.name).join(' ')
  const init = initContainers.length === 0 ? '' : ` or one of the init containers: [${choices(initContainers)}]`
  throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${choices(containers)}]${init}`)
}

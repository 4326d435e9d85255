import {
  badRequest,
  type FieldError,
  FieldPath,
  forbiddenField,
  internalError,
  invalid,
  invalidField,
  type Pod,
  parseTime,
} from '@coracle/api'
import type { LogOptions, NodeGateway } from '../node-gateway.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import type { Subresource } from './subresource.ts'

/** `pods/log`: what a container has written, from the node it is on. */
export function logSubresource(registry: ResourceRegistry, nodes: NodeGateway | undefined): Subresource {
  return {
    async stream(namespace, name, query, signal) {
      const options = parseLogOptions(query, name)
      const pod = (await registry.get(namespace, name)).object as Pod
      const container = containerOf(pod, options.container)
      // Where no node has the pod there is nothing to read yet, which is not an error.
      if ((pod.spec.nodeName ?? '') === '') return nothing()
      if (nodes === undefined) throw internalError('no node agents can be reached from here')
      return nodes.logs(pod, { ...options, container }, signal)
    },
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** Reads and checks the query of a log request (upstream's PodLogOptions). */
export function parseLogOptions(query: Readonly<Record<string, string>>, name: string): LogOptions {
  const errors: FieldError[] = []
  const count = (field: string, least: 0 | 1): number | undefined => {
    const text = query[field]
    if (text === undefined || text === '') return undefined
    if (!/^-?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
    const value = Number(text)
    const rule = least === 0 ? 'must be greater than or equal to 0' : 'must be greater than 0'
    if (value < least) errors.push(invalidField(FieldPath.of(field), value, rule))
    return value
  }
  const tailLines = count('tailLines', 0)
  const limitBytes = count('limitBytes', 1)
  const sinceSeconds = count('sinceSeconds', 1)
  const sinceTimeMs = timeOf(query.sinceTime)
  if (sinceSeconds !== undefined && sinceTimeMs !== undefined) {
    // Upstream's path to no field in particular.
    const path = FieldPath.root.key('')
    errors.push(forbiddenField(path, 'at most one of `sinceTime` or `sinceSeconds` may be specified'))
  }
  if (errors.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, name, errors)
  return {
    container: query.container ?? '',
    follow: isTrue(query.follow),
    previous: isTrue(query.previous),
    timestamps: isTrue(query.timestamps),
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(limitBytes === undefined ? {} : { limitBytes }),
    ...(sinceSeconds === undefined ? {} : { sinceSeconds }),
    ...(sinceTimeMs === undefined ? {} : { sinceTimeMs }),
  }
}

/** As in all queries: there without a value means true. */
const isTrue = (text: string | undefined): boolean => text !== undefined && text !== 'false' && text !== '0'

function timeOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  const ms = parseTime(text)
  if (Number.isNaN(ms)) throw badRequest(`parsing time ${JSON.stringify(text)}: not an RFC 3339 time`)
  return ms
}

/** The container meant; a pod with one needs not be told which. */
function containerOf(pod: Pod, wanted: string): string {
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

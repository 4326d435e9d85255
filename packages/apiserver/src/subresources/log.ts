import {
  badRequest,
  type FieldError,
  FieldPath,
  forbiddenField,
  goTimeFault,
  internalError,
  invalid,
  invalidField,
  type Pod,
  parseTime,
} from '@coracle/api'
import type { LogOptions, NodeGateway } from '../node-gateway.ts'
import { isTrue } from '../query-values.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import { chosenContainer } from './chosen-container.ts'
import type { Subresource } from './subresource.ts'

/** `pods/log`: what a container has written, from the node it is on. */
export function logSubresource(registry: ResourceRegistry, nodes: NodeGateway | undefined): Subresource {
  return {
    async stream(namespace, name, query, signal) {
      const options = parseLogOptions(query, name)
      const pod = (await registry.get(namespace, name)).object as Pod
      const container = chosenContainer(pod, options.container)
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

function timeOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  const ms = parseTime(text)
  if (Number.isNaN(ms)) throw badRequest(goTimeFault(text) ?? 'not a time')
  return ms
}

import { kindSchema } from '../../meta.ts'
import type { Verb } from '../../resource.ts'
import { optional, string } from '../../schema/builders.ts'
import { coreV1 } from '../meta/names.ts'

/** What may be done through the subresource `proxy`: whatever the other server does. */
export const proxyVerbs: readonly Verb[] = ['create', 'delete', 'get', 'patch', 'update']

const options = (kind: string, of: string) =>
  kindSchema(`${coreV1}.${kind}`, `A request that is sent on to ${of}.`, {
    path: optional(string(), 'The path that the request has there.'),
  })

/** What a request through `pods/proxy` asks for. Not stored: admission sees it; so with the others. */
export const podProxyOptionsSchema = options('PodProxyOptions', 'a pod')
export const serviceProxyOptionsSchema = options('ServiceProxyOptions', 'a pod behind a service')
export const nodeProxyOptionsSchema = options('NodeProxyOptions', 'the agent of a node')

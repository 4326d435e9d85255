import {
  ApiError,
  badRequest,
  bindingSchema,
  evictionSchema,
  internalError,
  notFound,
  type ResourceDefinition,
  scaleSchema,
  tokenRequestSchema,
} from '@coracle/api'
import type { StreamingService } from '@coracle/client/streaming'
import { askedUpgrade } from '@coracle/client/upgrades'
import type { Registry, RegistryWriteOptions } from '../registry-contract.ts'
import type { AgentStreams, Subresource, SubresourceResult } from '../subresources/subresource.ts'
import type { ExpectedKind } from './body/expected-kind.ts'
import { parseObject } from './body/parse-object.ts'
import { parsePatch } from './body/parse-patch.ts'
import { subresourcesOf } from './discovery.ts'
import type { Exchange, HandlerContext } from './exchange.ts'
import { longAnswer } from './long-answer.ts'
import { bodyFormatOf, patchTypeOf } from './media-types.ts'
import { writeOptionsOf } from './query.ts'
import type { Representation } from './representation/representation.ts'
import { sendObject, sendValue } from './representation/send.ts'
import { handleResource } from './resource-handlers.ts'
import { roomIn, sendText, warn } from './respond.ts'
import {
  attributesOf,
  checkPathName,
  methodRefused,
  pathMethodNotAllowed,
  pathNotFound,
  type ResourceRoute,
} from './routes.ts'
import { contextOf } from './write-context.ts'

/** Carries out what a route asks of a subresource. Authorization has happened. */
export function handleSubresource(
  context: HandlerContext,
  exchange: Exchange,
  route: ResourceRoute,
  registry: Registry,
): Promise<void> | void {
  const { definition } = registry
  if (route.subresource === 'status' && definition.hasStatus) {
    if (!['get', 'update', 'patch'].includes(route.verb)) throw methodRefused(definition, route.verb)
    return handleResource(context, exchange, route, registry)
  }
  const subresource = context.core.subresource(definition, route.subresource)
  const isCustom = definition.schema.dialect === 'structural'
  if (subresource === undefined && !isCustom) throw pathNotFound()
  if (definition.deprecated !== undefined) warn(exchange.response, definition.deprecated)
  // A custom kind has any path; nothing is there.
  if (subresource === undefined) throw notFound(definition, route.name)
  if (exchange.request.method === 'HEAD') throw pathMethodNotAllowed()
  checkPathName(route.name)
  const namespace = definition.namespaced ? route.namespace : ''
  if (subresource.connect !== undefined) return connect(context, exchange, registry, subresource, namespace, route)
  if (route.verb === 'get') {
    if (subresource.stream !== undefined) return stream(context, exchange, subresource, namespace, route.name)
    return get(context, exchange, definition, subresource, namespace, route)
  }
  return write(context, exchange, definition, subresource, namespace, route)
}

async function get(
  context: HandlerContext,
  exchange: Exchange,
  definition: ResourceDefinition,
  subresource: Subresource,
  namespace: string,
  route: ResourceRoute,
): Promise<void> {
  if (subresource.get === undefined) throw pathMethodNotAllowed()
  const representation = representationOf(context, exchange, definition, route.subresource)
  return sendResult(exchange, representation, definition, await subresource.get(namespace, route.name))
}

async function write(
  context: HandlerContext,
  exchange: Exchange,
  definition: ResourceDefinition,
  subresource: Subresource,
  namespace: string,
  route: ResourceRoute,
): Promise<void> {
  // As for objects, what a patch is comes before what is taken for an answer.
  if (route.verb === 'patch' && subresource.patch !== undefined)
    patchTypeOf(exchange.request.headers['content-type'], definition)
  const representation = representationOf(context, exchange, definition, route.subresource)
  const result = await carryOut(context, exchange, definition, subresource, namespace, route)
  return sendResult(exchange, representation, definition, result)
}

function representationOf(
  { representations }: HandlerContext,
  exchange: Exchange,
  definition: ResourceDefinition,
  subresource: string,
): Representation {
  const isOfCustom = definition.schema.dialect === 'structural'
  return representations.of(exchange, exchangedAs(definition, subresource), { isOfCustom })
}

async function carryOut(
  { bodies, turns }: HandlerContext,
  exchange: Exchange,
  definition: ResourceDefinition,
  subresource: Subresource,
  namespace: string,
  route: ResourceRoute,
): Promise<SubresourceResult> {
  const { request, response, query } = exchange
  const { verb, name } = route
  const contentType = request.headers['content-type']
  if (verb === 'patch' && subresource.patch !== undefined) {
    const type = patchTypeOf(contentType, definition)
    const body = await bodies.read(request)
    const options = writeOptionsOf(query, 'PatchOptions', type === 'apply')
    const expected = kindOf(definition, route.subresource)
    const reading = { type, expected, fieldValidation: options.fieldValidation, turns }
    const { change, warnings } = await parsePatch(body, reading)
    for (const warning of warnings) warn(response, warning)
    return subresource.patch(contextOf(exchange), namespace, name, change, options)
  }
  const parse = async (body: Buffer, { fieldValidation }: RegistryWriteOptions): Promise<unknown> => {
    const expected = kindOf(definition, route.subresource)
    const { value, warnings } = await parseObject(body, { contentType, expected, fieldValidation, turns })
    for (const warning of warnings) warn(response, warning)
    return value
  }
  if (verb === 'create' && subresource.create !== undefined) {
    bodyFormatOf(contentType)
    const body = await bodies.read(request)
    const options = writeOptionsOf(query, 'CreateOptions')
    return subresource.create(contextOf(exchange), namespace, name, await parse(body, options), options)
  }
  if (verb === 'update' && subresource.update !== undefined) {
    const body = await bodies.read(request)
    const options = writeOptionsOf(query, 'UpdateOptions')
    return subresource.update(contextOf(exchange), namespace, name, await parse(body, options), options)
  }
  throw pathMethodNotAllowed()
}

/** The kind that a subresource takes. */
function kindOf(definition: ResourceDefinition, name: string): ExpectedKind {
  const taken = subresourcesOf(definition).find((each) => each.name === name)
  if (taken === undefined) return definition
  const { group, version, kind } = taken
  const schema = [definition, ...exchangedKinds].find(
    (each) => each.group === group && each.version === version && each.kind === kind,
  )?.schema
  return { group, kind, version, ...(schema === undefined ? {} : { schema }) }
}

/** What a subresource can be had in depends on what is exchanged: the scale of a custom object has a message in protobuf, the object none. */
function exchangedAs(definition: ResourceDefinition, subresource: string): ResourceDefinition {
  const { schema } = kindOf(definition, subresource)
  return schema === undefined || schema === definition.schema
    ? definition
    : { ...definition, schema: schema as ResourceDefinition['schema'] }
}

/** Kinds that subresources take and no path serves. */
const exchangedKinds = [
  { group: '', version: 'v1', kind: 'Binding', schema: bindingSchema },
  { group: 'autoscaling', version: 'v1', kind: 'Scale', schema: scaleSchema },
  { group: 'policy', version: 'v1', kind: 'Eviction', schema: evictionSchema },
  { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest', schema: tokenRequestSchema },
]

function sendResult(
  { response }: Exchange,
  representation: Representation,
  definition: ResourceDefinition,
  { code, value, stored, kind = definition, warnings }: SubresourceResult,
): Promise<void> | void {
  if (stored !== undefined) return sendObject(response, representation, code, kind, stored, warnings)
  return sendValue(response, representation, code, value, warnings)
}

/** Text as it comes, such as the log of a container: as fast as the client reads, until either side ends it. */
async function stream(
  context: HandlerContext,
  exchange: Exchange,
  subresource: Subresource,
  namespace: string,
  name: string,
): Promise<void> {
  const signal = context.becomeLongRunning(exchange)
  const { output, begin } = await longAnswer(context, exchange, { contentType: 'text/plain', messages: 'bytes' })
  const pieces = await subresource.stream?.(namespace, name, Object.fromEntries(exchange.query), signal)
  if (pieces === undefined) return
  begin()
  try {
    for await (const piece of pieces) {
      if (signal.aborted) break
      if (!output.write(piece)) await roomIn(output)
    }
  } catch (error) {
    // Nothing of HTTP can be said any more on what has become a WebSocket.
    if (context.upgrades.isTaken(exchange.request)) return void output.destroy()
    if (!signal.aborted) throw error
  }
  output.end()
}

/** A request that becomes a connection of streams. */
async function connect(
  context: HandlerContext,
  exchange: Exchange,
  { definition }: Registry,
  subresource: Subresource,
  namespace: string,
  route: ResourceRoute,
): Promise<void> {
  if (route.verb !== 'get' && route.verb !== 'create') throw pathMethodNotAllowed()
  // WebSockets are opened by a GET; who may only read must not run commands by it.
  if (route.verb === 'get') {
    context.core.authorize(
      exchange.user,
      attributesOf({ ...route, verb: 'create' }, definition, () => ''),
    )
  }
  const service = await connected(exchange, subresource, namespace, route.name)
  if (service === undefined) return
  if (service.kind === 'agent') return passOn(context, exchange, service)
  // Protocols of streams are loaded with the first connection.
  const { serveStreams } = await import('../streaming/serve-streams.ts')
  await serveStreams(context, exchange, service)
}

/** Lets the agent of a node serve a connection: what is said on it is between that and the client. */
async function passOn(
  context: HandlerContext,
  exchange: Exchange,
  { agent, path, search }: AgentStreams,
): Promise<void> {
  if (askedUpgrade(exchange.request) === '') throw badRequest('Upgrade request required')
  const signal = context.becomeLongRunning(exchange)
  const { serveProxy } = await import('../proxy/serve-proxy.ts')
  const dialled = {
    host: agent.host,
    connect: () =>
      agent.connect(signal).catch((error: Error) => {
        throw internalError(`error dialing backend: ${error.message}`)
      }),
  }
  const at = { prefix: '', path, search }
  await serveProxy(context, exchange, { kind: 'agent', agent: dialled }, at, signal)
}

/** What a node cannot do is told as node agents tell it: in text, which is how clients show it. */
async function connected(
  exchange: Exchange,
  subresource: Subresource,
  namespace: string,
  name: string,
): Promise<StreamingService | AgentStreams | undefined> {
  try {
    return await subresource.connect?.(contextOf(exchange), namespace, name, exchange.query)
  } catch (error) {
    if (error instanceof ApiError || !(error instanceof Error)) throw error
    sendText(exchange.response, 500, error.message)
    return undefined
  }
}

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

/** A request for a subresource of one object. */
interface SubresourceCall {
  readonly context: HandlerContext
  readonly exchange: Exchange
  readonly definition: ResourceDefinition
  readonly subresource: Subresource
  /** '' for kinds without namespaces. */
  readonly namespace: string
  readonly route: ResourceRoute
}

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
  // A custom kind has any path, but no object at it.
  if (subresource === undefined) throw notFound(definition, route.name)
  if (exchange.request.method === 'HEAD') throw pathMethodNotAllowed()
  checkPathName(route.name)
  const namespace = definition.namespaced ? route.namespace : ''
  const call: SubresourceCall = { context, exchange, definition, subresource, namespace, route }
  if (subresource.connect !== undefined) return connect(call)
  if (route.verb !== 'get') return write(call)
  return subresource.stream === undefined ? get(call) : stream(call)
}

async function get(call: SubresourceCall): Promise<void> {
  const { exchange, definition, subresource, namespace, route } = call
  if (subresource.get === undefined) throw pathMethodNotAllowed()
  const representation = representationOf(call)
  return sendResult(exchange, representation, definition, await subresource.get(namespace, route.name))
}

async function write(call: SubresourceCall): Promise<void> {
  const { exchange, definition, subresource, route } = call
  // As for objects, the type of a patch is checked before the types that the client accepts.
  if (route.verb === 'patch' && subresource.patch !== undefined)
    patchTypeOf(exchange.request.headers['content-type'], definition)
  const representation = representationOf(call)
  const result = await carryOut(call)
  return sendResult(exchange, representation, definition, result)
}

function representationOf({ context, exchange, definition, route }: SubresourceCall): Representation {
  const isOfCustom = definition.schema.dialect === 'structural'
  return context.representations.of(exchange, exchangedAs(definition, route.subresource), { isOfCustom })
}

async function carryOut(call: SubresourceCall): Promise<SubresourceResult> {
  const { exchange, definition, subresource, namespace, route } = call
  const { bodies, turns } = call.context
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

/** The kind whose forms a subresource can be had in: the Scale of a custom object can be had in protobuf, the object itself cannot. */
function exchangedAs(definition: ResourceDefinition, subresource: string): ResourceDefinition {
  const { schema } = kindOf(definition, subresource)
  return schema === undefined || schema === definition.schema
    ? definition
    : { ...definition, schema: schema as ResourceDefinition['schema'] }
}

/** Kinds that only subresources accept. */
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

/** Sends text as it comes, such as the log of a container, as fast as the client reads, until either side ends it. */
async function stream({ context, exchange, subresource, namespace, route }: SubresourceCall): Promise<void> {
  const signal = context.becomeLongRunning(exchange)
  const { output, begin } = await longAnswer(context, exchange, { contentType: 'text/plain', messages: 'bytes' })
  const pieces = await subresource.stream?.(namespace, route.name, Object.fromEntries(exchange.query), signal)
  if (pieces === undefined) return
  begin()
  try {
    for await (const piece of pieces) {
      if (signal.aborted) break
      if (!output.write(piece)) await roomIn(output)
    }
  } catch (error) {
    // On what has become a WebSocket no error can be sent as an answer of HTTP.
    if (context.upgrades.isTaken(exchange.request)) return void output.destroy()
    if (!signal.aborted) throw error
  }
  output.end()
}

/** A request that becomes a connection of streams. */
async function connect({
  context,
  exchange,
  definition,
  subresource,
  namespace,
  route,
}: SubresourceCall): Promise<void> {
  if (route.verb !== 'get' && route.verb !== 'create') throw pathMethodNotAllowed()
  // WebSockets are opened by a GET: whoever may only read must not run commands that way.
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

/** Forwards a connection to the agent of a node, which serves it. */
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

/** Begins a connection. Errors of a node are answered as text, as node agents do, which is how clients show them. */
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

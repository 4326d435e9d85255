import {
  ApiError,
  badRequest,
  type FieldValidation,
  type KubernetesObject,
  type ResourceDefinition,
  type Verb,
} from '@coracle/api'
import type { PatchType } from '@coracle/client'
import type { Registry, WriteResult } from '../registry-contract.ts'
import { largeBodyBytesMin } from './body/body-reader.ts'
import { parseDeleteOptions } from './body/parse-delete-options.ts'
import { parseObject } from './body/parse-object.ts'
import { type ParsedPatch, parsePatch } from './body/parse-patch.ts'
import type { Exchange, HandlerContext } from './exchange.ts'
import { longAnswer } from './long-answer.ts'
import { bodyFormatOf, patchTypeOf } from './media-types.ts'
import {
  checkSelectors,
  deleteOptionsOf,
  listOptionsOf,
  refuseExport,
  watchOptionsOf,
  writeOptionsOf,
} from './query.ts'
import type { Representation } from './representation/representation.ts'
import { sendObject, sendPage, sendValue } from './representation/send.ts'
import { warn } from './respond.ts'
import { checkPathName, pathMethodNotAllowed, type ResourceRoute } from './routes.ts'
import { streamWatch } from './watch-response.ts'
import { contextOf } from './write-context.ts'

/** Carries out what a route asks of the objects of a kind, or of their status. Authorization has happened. */
export function handleResource(
  context: HandlerContext,
  exchange: Exchange,
  route: ResourceRoute,
  registry: Registry,
): Promise<void> | void {
  const { definition } = registry
  if (definition.deprecated !== undefined) warn(exchange.response, definition.deprecated)
  if (definition.schema.dialect === 'structural') checkCustomMethod(route)
  else checkMethod(route, definition, exchange.request.method)
  const namespace = definition.namespaced ? route.namespace : ''
  checkPathName(route.name)
  switch (route.verb as Verb) {
    case 'get':
      return get(context, exchange, registry, namespace, route.name)
    case 'list':
      return list(context, exchange, registry, namespace)
    case 'watch':
      return watch(context, exchange, registry, namespace, route.name)
    case 'create':
      return create(context, exchange, registry, namespace)
    case 'update':
      return update(context, exchange, registry, namespace, route)
    case 'patch':
      return patch(context, exchange, registry, namespace, route)
    case 'delete':
      return remove(context, exchange, registry, namespace, route.name)
    case 'deletecollection':
      return removeCollection(context, exchange, registry, namespace)
  }
}

/** Routes of built-in kinds have no HEAD; objects are created in their collection, and changed under their own name. */
function checkMethod({ verb, name }: ResourceRoute, { verbs }: ResourceDefinition, method: string | undefined): void {
  if (method === 'HEAD' || !verbs.includes(verb as Verb)) throw pathMethodNotAllowed()
  const isNamed = name !== ''
  if (verb === 'create' ? isNamed : !isNamed && (verb === 'update' || verb === 'patch')) throw pathMethodNotAllowed()
}

/** Custom kinds have one handler for any path, which looks at the verb alone: HEAD reads, and a name in the path of what is created says nothing. */
function checkCustomMethod({ verb, name }: ResourceRoute): void {
  if (name === '' && (verb === 'update' || verb === 'patch')) throw badRequest('name must be provided')
}

async function get(
  context: HandlerContext,
  exchange: Exchange,
  registry: Registry,
  namespace: string,
  name: string,
): Promise<void> {
  const representation = context.representations.of(exchange, registry.definition)
  refuseExport(exchange.query)
  const stored = await registry.get(namespace, name, exchange.query.get('resourceVersion') ?? '')
  return sendObject(exchange.response, representation, 200, registry.definition, stored)
}

async function list(context: HandlerContext, exchange: Exchange, registry: Registry, namespace: string): Promise<void> {
  const representation = context.representations.of(exchange, registry.definition, { isListed: true })
  const page = await registry.list(listOptionsOf(exchange.query, namespace))
  const { group, version, plural } = registry.definition
  const key = `${group}/${version}/${plural}/${namespace}?${exchange.search}`
  return sendPage(exchange.response, representation, registry.definition, page, context.lists, key)
}

async function watch(
  context: HandlerContext,
  exchange: Exchange,
  registry: Registry,
  namespace: string,
  name: string,
): Promise<void> {
  const { environment } = context
  const events = context.representations
    .of(exchange, registry.definition, { isListed: true })
    .events(registry.definition)
  const options = watchOptionsOf(exchange.query, namespace)
  const request = {
    registry,
    options: name === '' ? options : { ...options, fieldSelector: selectorOfName(name, options.fieldSelector) },
    events,
  }
  const { group, plural } = registry.definition
  const forget = context.core.clientWatches.register(
    { group, plural, namespace, name },
    request.options.fieldSelector ?? '',
  )
  try {
    // What is there already is sent first, and takes its seats until then.
    const signal = context.becomeLongRunning(exchange, { keepsSeats: true })
    const answer = await longAnswer(context, exchange, { contentType: events.contentType, messages: 'event' })
    answer.output.once('close', forget)
    await streamWatch(answer, request, environment, signal, context.turns)
    context.giveSeatsBack(exchange)
  } catch (error) {
    forget()
    throw error
  }
}

/** A watch of one object, as only `/api/v1/watch/…/NAME` asks for it, selects by that name. */
function selectorOfName(name: string, given: string | undefined): string {
  const selector = `metadata.name=${name}`
  if (given !== undefined && given !== selector) {
    throw badRequest("fieldSelector metadata.name doesn't match requested name")
  }
  return selector
}

async function create(
  context: HandlerContext,
  exchange: Exchange,
  registry: Registry,
  namespace: string,
): Promise<void> {
  const representation = context.representations.of(exchange, registry.definition)
  // Of a creation the type is looked at before anything else of the body and the options, of an update after them.
  bodyFormatOf(exchange.request.headers['content-type'])
  const result = await context.bodies.use(exchange.request, async (bytes) => {
    const options = writeOptionsOf(exchange.query, 'CreateOptions')
    const body = await readObject(context, exchange, bytes, registry.definition, options.fieldValidation)
    return registry.create(contextOf(exchange), namespace, body, options)
  })
  return sendWritten(exchange, representation, 201, registry.definition, result)
}

async function update(
  context: HandlerContext,
  exchange: Exchange,
  registry: Registry,
  namespace: string,
  { name, subresource }: ResourceRoute,
): Promise<void> {
  const representation = context.representations.of(exchange, registry.definition)
  const result = await context.bodies.use(exchange.request, async (bytes) => {
    const options = writeOptionsOf(exchange.query, 'UpdateOptions')
    const body = await readObject(context, exchange, bytes, registry.definition, options.fieldValidation)
    return registry.update(contextOf(exchange), namespace, name, subresource, body, options)
  })
  return sendWritten(exchange, representation, result.created === true ? 201 : 200, registry.definition, result)
}

async function patch(
  context: HandlerContext,
  exchange: Exchange,
  registry: Registry,
  namespace: string,
  { name, subresource }: ResourceRoute,
): Promise<void> {
  const type = patchTypeOf(exchange.request.headers['content-type'], registry.definition)
  const representation = context.representations.of(exchange, registry.definition)
  const result = await context.bodies.use(exchange.request, async (bytes) => {
    const options = writeOptionsOf(exchange.query, 'PatchOptions', type === 'apply')
    const find = () => registry.get(namespace, name, '')
    const { definition: expected } = registry
    const { fieldValidation } = options
    const parse = () => parsePatch(bytes, { type, expected, fieldValidation, turns: context.turns })
    const { change, warnings } = await readPatch(type, parse, find)
    for (const text of warnings) warn(exchange.response, text)
    return registry.patch(contextOf(exchange), namespace, name, subresource, change, options)
  })
  const code = result.created === true ? 201 : 200
  return sendWritten(exchange, representation, code, registry.definition, result)
}

/** A patch as parsed. That there is nothing to change is told before what is wrong with the patch, but for an apply, which may create. */
async function readPatch(
  type: PatchType,
  parse: () => Promise<ParsedPatch>,
  find: () => Promise<unknown>,
): Promise<ParsedPatch> {
  try {
    return await parse()
  } catch (error) {
    if (type !== 'apply' && error instanceof ApiError && error.code === 400) await find()
    throw error
  }
}

async function remove(
  context: HandlerContext,
  exchange: Exchange,
  registry: Registry,
  namespace: string,
  name: string,
): Promise<void> {
  const representation = context.representations.of(exchange, registry.definition)
  const { body, options } = await readDeleteOptions(context, exchange)
  const result = await registry.delete(contextOf(exchange), namespace, name, options)
  if (result.type === 'status') return sendValue(exchange.response, representation, 200, result.status)
  // Upstream answers 202 only to those who asked for cascading in the old way; others never learnt to expect it.
  const code = !result.gone && body?.orphanDependents === false ? 202 : 200
  return sendObject(exchange.response, representation, code, registry.definition, result.stored)
}

async function removeCollection(
  context: HandlerContext,
  exchange: Exchange,
  registry: Registry,
  namespace: string,
): Promise<void> {
  const representation = context.representations.of(exchange, registry.definition)
  const list = listOptionsOf(exchange.query, namespace)
  checkSelectors(exchange.query)
  const { options } = await readDeleteOptions(context, exchange)
  const page = await registry.deleteCollection(contextOf(exchange), list, options)
  const { group, version, plural } = registry.definition
  const key = `deleted ${group}/${version}/${plural}/${namespace}?${exchange.search}`
  return sendPage(exchange.response, representation, registry.definition, page, context.lists, key)
}

async function readObject(
  { turns }: HandlerContext,
  { request, response }: Exchange,
  body: Buffer,
  expected: ResourceDefinition,
  fieldValidation: FieldValidation,
): Promise<unknown> {
  const contentType = request.headers['content-type']
  const { value, warnings } = await parseObject(body, { contentType, expected, fieldValidation, turns })
  for (const warning of warnings) warn(response, warning)
  // To check and store it takes as long again.
  if (body.length >= largeBodyBytesMin) await turns.take(true)
  return value
}

async function readDeleteOptions({ bodies }: HandlerContext, { request, query }: Exchange) {
  const body = await parseDeleteOptions(await bodies.read(request), request.headers['content-type'])
  return { body, options: deleteOptionsOf(query, body) }
}

function sendWritten(
  { response }: Exchange,
  representation: Representation,
  code: number,
  definition: ResourceDefinition<KubernetesObject>,
  { stored, warnings }: WriteResult,
): Promise<void> | void {
  return sendObject(response, representation, code, definition, stored, warnings)
}

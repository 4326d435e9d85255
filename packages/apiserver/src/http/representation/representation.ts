import type { IncomingMessage } from 'node:http'
import type { ResourceDefinition } from '@coracle/api'
import type { Clock } from '@coracle/environment'
import type { Page, Stored, WatchDelivery } from '../../registry-contract.ts'
import type { Exchange } from '../exchange.ts'
import { notAcceptable } from '../media-types.ts'
import { hasProtobufFields } from '../protobuf.ts'
import { parseQuery } from '../query.ts'
import { type Encoded, type Format, json, prettyJson, yaml } from './format.ts'
import { jsonListParts, type ListParts } from './list-parts.ts'
import { type Accepted, mediaTypes, negotiate, type Offer, streamTypes } from './negotiation.ts'
import { protobuf } from './protobuf-format.ts'
import { includeObjectOf, metadataOnly, type Shape, tables, wholeObjects } from './shape.ts'
import { StoredProtobuf } from './stored-protobuf.ts'

/** How what a request asks for looks: decided once, before it is carried out. */
export interface Representation {
  readonly contentType: string
  /** A stored object of this kind. Throws NotAcceptable (406) where only lists can look as was asked for. */
  object(definition: ResourceDefinition, stored: Stored): Encoded
  /** A page of a list of this kind. Throws NotAcceptable (406) where only single objects can look as was asked for. */
  page(definition: ResourceDefinition, page: Page): Encoded | ListParts
  /** What is made for this answer alone, such as a Status: always whole. */
  value(value: unknown): Encoded
  /** Throws NotAcceptable (406) where there is no such stream. */
  events(definition: ResourceDefinition): EventStream
}

/** What the events of one watch look like. */
export interface EventStream {
  readonly contentType: string
  /** To be called for each event once, in their order. */
  encode(delivery: WatchDelivery): Buffer
}

const listTypes = [...mediaTypes, ...streamTypes]

/** Decides how what requests ask for looks. */
export class Representations {
  readonly #clock: Clock
  readonly #storedProtobuf = new StoredProtobuf()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * What the client of this request gets of this kind. Throws NotAcceptable (406) where it takes nothing that is served. `isListed`: of
   * a list or a watch, which share a route. `isOfCustom`: at a path of a custom kind, whatever kind it is.
   */
  of(
    { request, query }: Exchange,
    definition: ResourceDefinition,
    { isListed = false, isOfCustom = false } = {},
  ): Representation {
    const offer = offerOf(definition, isOfCustom)
    const accepted = negotiate(request.headers.accept, offer, isListed ? listTypes : mediaTypes)
    const format = formatOf(accepted, request, query)
    if (accepted.as === undefined) {
      if (format === json) return storedJson
      if (format === protobuf) return this.#storedProtobuf
    }
    return new Shaped(shapeOf(accepted, query, this.#clock), format)
  }
}

function offerOf({ schema, verbs }: ResourceDefinition, isOfCustom: boolean): Offer {
  if (!hasProtobufFields(schema)) return 'custom'
  if (isOfCustom) return 'part of custom'
  return verbs.length === 1 && verbs[0] === 'create' ? 'posted' : 'builtin'
}

/**
 * What the client of this request gets of a Status, whatever it asked for: as upstream, JSON where it takes nothing that is
 * served. Of all else that a request can be answered with, `Representations` decides.
 */
export function statusFormatOf(request: IncomingMessage): Format {
  const { accept } = request.headers
  try {
    const { url = '' } = request
    const search = url.includes('?') ? url.slice(url.indexOf('?') + 1) : ''
    return formatOf(negotiate(accept, 'plain'), request, parseQuery(search))
  } catch {
    return json
  }
}

/** The format that a request asks for. */
export function formatOf({ format }: Accepted, request: IncomingMessage, query: URLSearchParams): Format {
  switch (format) {
    case 'json':
      return wantsPretty(request, query) ? prettyJson : json
    case 'yaml':
      return yaml
    case 'protobuf':
      return protobuf
  }
}

function shapeOf({ as, metaVersion }: Accepted, query: URLSearchParams, clock: Clock): Shape {
  if (as === undefined) return wholeObjects
  if (as === 'Table') return tables(includeObjectOf(query.get('includeObject')), metaVersion, clock)
  return metadataOnly(as, metaVersion)
}

const storedEvents: EventStream = { contentType: json.contentType, encode: (delivery) => delivery.bytes }

/** The JSON that is kept with each object: nothing is serialized. */
const storedJson: Representation = {
  contentType: json.contentType,
  object: (_definition, stored) => stored.bytes,
  page: jsonListParts,
  value: json.encode,
  events: () => storedEvents,
}

/** Whatever is made for the one who asks. */
class Shaped implements Representation {
  readonly #shape: Shape
  readonly #format: Format

  constructor(shape: Shape, format: Format) {
    this.#shape = shape
    this.#format = format
  }

  get contentType(): string {
    return this.#format.contentType
  }

  object(definition: ResourceDefinition, { withManagedFields }: Stored): Encoded {
    return this.#format.encode(this.#shape.object(definition, withManagedFields))
  }

  page(definition: ResourceDefinition, page: Page): Encoded {
    return this.#format.encode(this.#shape.page(definition, page))
  }

  value(value: unknown): Encoded {
    return this.#format.encode(value)
  }

  events(definition: ResourceDefinition): EventStream {
    const { events } = this.#format
    if (events === undefined) throw notAcceptable(streamTypes)
    const objectOf = this.#shape.events?.(definition)
    if (objectOf === undefined) return storedEvents
    return {
      contentType: events.contentType,
      encode: ({ event, stored }) => {
        const { type } = event
        if (type === 'ERROR') return events.encode(type, event.object)
        return events.encode(type, objectOf({ type, object: stored?.withManagedFields ?? event.object }))
      },
    }
  }
}

/** Whether a person reads the answer: they said so, or use a tool people use. */
function wantsPretty(request: IncomingMessage, query: URLSearchParams): boolean {
  const said = query.get('pretty')
  if (said !== null && said !== '') return /^(1|t|true)$/i.test(said)
  const userAgent = request.headers['user-agent'] ?? ''
  return userAgent.startsWith('curl') || userAgent.startsWith('Wget') || userAgent.startsWith('Mozilla/5.0')
}

import type { IncomingMessage } from 'node:http'
import type { ResourceDefinition } from '@coracle/api'
import type { Clock } from '@coracle/environment'
import type { Page, Stored, WatchDelivery } from '../../registry-contract.ts'
import type { Exchange } from '../exchange.ts'
import { notAcceptable } from '../media-types.ts'
import { type Encoded, type Format, json, prettyJson, yaml } from './format.ts'
import { jsonListParts, type ListParts } from './list-parts.ts'
import { type Accepted, negotiate } from './negotiation.ts'
import { includeObjectOf, metadataOnly, type Shape, tables, wholeObjects } from './shape.ts'

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

/** What the client of this request gets. Throws NotAcceptable (406) where it takes nothing that is served. */
export function representationOf(exchange: Exchange, clock: Clock): Representation {
  const accepted = negotiate(exchange.request.headers.accept)
  const pretty = accepted.format === 'json' && wantsPretty(exchange)
  if (accepted.as === undefined && accepted.format === 'json' && !pretty) return storedJson
  const format = accepted.format === 'yaml' ? yaml : pretty ? prettyJson : json
  return new Shaped(shapeOf(accepted, exchange.query, clock), format)
}

function shapeOf({ as, metaVersion }: Accepted, query: URLSearchParams, clock: Clock): Shape {
  if (as === undefined) return wholeObjects
  if (as === 'Table') return tables(includeObjectOf(query.get('includeObject')), metaVersion, clock)
  return metadataOnly(as, metaVersion)
}

const storedEvents: EventStream = { contentType: json.contentType, encode: (delivery) => delivery.bytes }

/** The JSON that is kept with each object: nothing is serialized. */
const storedJson: Representation = {
  ...json,
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
    // A stream of YAML documents is nothing upstream has.
    if (this.#format === yaml) throw notAcceptable(['application/json;stream=watch'])
    const objectOf = this.#shape.events?.(definition)
    if (objectOf === undefined) return storedEvents
    return {
      contentType: json.contentType,
      encode: (delivery) => {
        const { event, stored } = delivery
        if (event.type === 'ERROR') return delivery.bytes
        const { type } = event
        return json.encode({ type, object: objectOf({ type, object: stored?.withManagedFields ?? event.object }) })
      },
    }
  }
}

/** Whether a person reads the answer: they said so, or use a tool people use. */
function wantsPretty({ query, request }: { readonly query: URLSearchParams; readonly request: IncomingMessage }) {
  const said = query.get('pretty')
  if (said !== null && said !== '') return /^(1|t|true)$/i.test(said)
  const userAgent = request.headers['user-agent'] ?? ''
  return userAgent.startsWith('curl') || userAgent.startsWith('Wget') || userAgent.startsWith('Mozilla/5.0')
}

import { apiVersionOf, listMeta, type ResourceDefinition } from '@coracle/api'
import type { Page, Stored, WatchDelivery } from '../../registry-contract.ts'
import { FormCache } from '../../versions/form-cache.ts'
import { encloseItems, encloseProtobuf, encodeHeld, encodeProtobuf, encodeWatchEvent } from '../protobuf-encode.ts'
import type { Encoded } from './format.ts'
import { concatenated, type ListParts, listMetaOf } from './list-parts.ts'
import { protobuf } from './protobuf-format.ts'
import type { EventStream, Representation } from './representation.ts'

/** Stands for the forms that are kept of objects, and of deliveries: what an envelope or a list holds, and a frame of a watch. */
const heldForm = {}
const frameForm = {}

/** Objects in protobuf. Each is encoded when somebody first asks for it, and its bytes are kept while they are used. */
export class StoredProtobuf implements Representation {
  readonly contentType = protobuf.contentType
  readonly #forms = new FormCache()

  object(definition: ResourceDefinition, stored: Stored): Encoded {
    return this.#enclosed(definition, stored)
  }

  page(definition: ResourceDefinition, page: Page): ListParts {
    const items = page.items.map((stored) => this.#held(definition, stored))
    const metadata = encodeProtobuf(listMeta, listMetaOf(page))
    const { head, tail } = encloseItems(apiVersionOf(definition), definition.listKind, metadata, items)
    return { head, items, framing: () => concatenated, tail }
  }

  value(value: unknown): Encoded {
    return protobuf.encode(value)
  }

  events(definition: ResourceDefinition): EventStream {
    return { contentType: protobuf.events.contentType, encode: (delivery) => this.#frame(definition, delivery) }
  }

  #frame(definition: ResourceDefinition, delivery: WatchDelivery): Buffer {
    const make = () => encodeWatchEvent(delivery.event.type, this.#eventObject(definition, delivery))
    return this.#forms.get(delivery, frameForm, make, sizeOf)
  }

  #eventObject(definition: ResourceDefinition, { event, stored }: WatchDelivery): Buffer {
    if (event.type === 'ERROR') return protobuf.encode(event.object)
    if (stored !== undefined) return this.#enclosed(definition, stored)
    return encloseProtobuf(apiVersionOf(definition), definition.kind, encodeHeld(definition.schema, event.object))
  }

  #enclosed(definition: ResourceDefinition, stored: Stored): Buffer {
    return encloseProtobuf(apiVersionOf(definition), definition.kind, this.#held(definition, stored))
  }

  #held(definition: ResourceDefinition, stored: Stored): Buffer {
    return this.#forms.get(stored, heldForm, () => encodeHeld(definition.schema, stored.withManagedFields), sizeOf)
  }
}

const sizeOf = (bytes: Buffer): number => bytes.length

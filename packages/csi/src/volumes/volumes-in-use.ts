import { nodes, uniqueVolumeName } from '@coracle/api'
import type { Client } from '@coracle/client'
import { Turns } from '../turns.ts'
import type { VolumePlaces } from './volume-paths.ts'
import { allPublishes } from './volume-records.ts'

/** What a Node says of the attached volumes that are in use on it: they must not be detached. */
export class VolumesInUse {
  readonly #client: Client
  readonly #nodeName: string
  readonly #places: VolumePlaces
  readonly #turns = new Turns()
  /** Undefined: the Node has to be read first, which may have been written by an agent before. */
  #told: string | undefined

  constructor(client: Client, nodeName: string, places: VolumePlaces) {
    this.#client = client
    this.#nodeName = nodeName
    this.#places = places
  }

  /** Resolves when the Node says what is known on disk: whether it said something else before. */
  tell(): Promise<boolean> {
    return this.#turns.take('', async () => {
      const name = this.#nodeName
      const attached = (await allPublishes(this.#places)).filter(({ attachmentId }) => attachmentId !== undefined)
      const volumesInUse = [...new Set(attached.map(({ driver, handle }) => uniqueVolumeName(driver, handle)))].sort()
      this.#told ??= ((await this.#client.get(nodes, { name })).status?.volumesInUse ?? []).join(' ')
      const text = volumesInUse.join(' ')
      if (text === this.#told) return false
      const because = 'volumes of drivers came to the node, or went'
      const body = { status: { volumesInUse } }
      await this.#client.patch(nodes, { name }, { type: 'merge', body }, { subresource: 'status', because })
      this.#told = text
      return true
    })
  }
}

import type { Document, YAMLSeq } from 'yaml'

/** What the lists of a kubeconfig hold. */
export type KubeconfigPart = 'cluster' | 'user' | 'context'

type Fields = Readonly<Record<string, unknown>>

/**
 * The text of a kubeconfig while it is changed. What is not touched stays as somebody wrote it: comments, order, fields
 * that nobody here knows.
 */
export class KubeconfigEdit {
  readonly #document: Document
  readonly #yaml: typeof import('yaml')
  readonly #path: string

  private constructor(document: Document, yaml: typeof import('yaml'), path: string) {
    this.#document = document
    this.#yaml = yaml
    this.#path = path
  }

  /** Takes a text apart; an empty one becomes a kubeconfig. Rejects with an Error that names `path` for what is none. */
  static async parse(text: string, path: string): Promise<KubeconfigEdit> {
    const yaml = await import('yaml')
    const given = yaml.parseDocument(text)
    const [problem] = given.errors
    if (problem !== undefined) throw new Error(`${path} is no YAML: ${problem.message}`)
    if (given.contents !== null && !yaml.isMap(given.contents))
      throw new Error(`${path} is no kubeconfig: it holds no mapping`)
    const isEmpty = given.contents === null
    const document = isEmpty ? new yaml.Document({ apiVersion: 'v1', kind: 'Config' }) : given
    const edit = new KubeconfigEdit(document, yaml, path)
    for (const part of ['cluster', 'user', 'context'] as const) edit.#list(part)
    return edit
  }

  get currentContext(): string | undefined {
    const name = this.#document.get('current-context')
    return typeof name === 'string' && name !== '' ? name : undefined
  }

  /** Empty where there is to be none, as kubectl writes it. */
  set currentContext(name: string | undefined) {
    this.#document.set('current-context', name ?? '')
  }

  names(part: KubeconfigPart): readonly string[] {
    return this.#entries(part).flatMap(({ name }) => (typeof name === 'string' ? [name] : []))
  }

  /** What an entry says; undefined where there is none of that name. */
  get(part: KubeconfigPart, name: string): Fields | undefined {
    const fields = this.#entries(part).find((entry) => entry.name === name)?.[part]
    return isFields(fields) ? fields : undefined
  }

  /** Has an entry say this, in its place where there is one of that name. */
  set(part: KubeconfigPart, name: string, fields: Fields): void {
    const list = this.#list(part) ?? this.#createList(part)
    const node = this.#document.createNode({ name, [part]: fields })
    const index = this.#indexOf(part, name)
    if (index < 0) list.add(node)
    else list.set(index, node)
  }

  remove(part: KubeconfigPart, name: string): void {
    const index = this.#indexOf(part, name)
    if (index >= 0) this.#list(part)?.delete(index)
  }

  toString(): string {
    // Certificates are long, and tools expect them on a line.
    return this.#document.toString({ lineWidth: 0, indentSeq: false })
  }

  #entries(part: KubeconfigPart): readonly Fields[] {
    const list: unknown = this.#list(part)?.toJS(this.#document)
    return Array.isArray(list) ? list.map((entry) => (isFields(entry) ? entry : {})) : []
  }

  #indexOf(part: KubeconfigPart, name: string): number {
    return this.#entries(part).findIndex((entry) => entry.name === name)
  }

  /** Undefined where the text has no such list, or an empty value for it. */
  #list(part: KubeconfigPart): YAMLSeq | undefined {
    const list = this.#document.get(`${part}s`)
    if (list === undefined || list === null) return undefined
    if (!this.#yaml.isSeq(list)) throw new Error(`${this.#path}: ${part}s is no list`)
    return list
  }

  #createList(part: KubeconfigPart): YAMLSeq {
    const list = new this.#yaml.YAMLSeq()
    this.#document.set(`${part}s`, list)
    return list
  }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

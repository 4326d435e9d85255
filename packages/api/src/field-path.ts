/**
 * Where in an object something is, as upstream writes it: `spec.containers[0].image`, `metadata.labels[app]`.
 * Paths are linked to their parents and only become text when someone reads them, so walking an object costs little.
 */
export class FieldPath {
  readonly #parent: FieldPath | undefined
  readonly #segment: string
  readonly #kind: 'field' | 'index'

  private constructor(parent: FieldPath | undefined, segment: string, kind: 'field' | 'index') {
    this.#parent = parent
    this.#segment = segment
    this.#kind = kind
  }

  /** The path of the object itself: empty. */
  static readonly root = new FieldPath(undefined, '', 'field')

  /** A path from field names: `FieldPath.of('spec', 'replicas')`. */
  static of(...fields: readonly string[]): FieldPath {
    let path: FieldPath = FieldPath.root
    for (const field of fields) path = path.field(field)
    return path
  }

  field(name: string): FieldPath {
    return new FieldPath(this, name, 'field')
  }

  index(position: number): FieldPath {
    return new FieldPath(this, String(position), 'index')
  }

  /** A key of a map: written like an index. */
  key(name: string): FieldPath {
    return new FieldPath(this, name, 'index')
  }

  toString(): string {
    if (this.#parent === undefined) return this.#segment
    const before = this.#parent.toString()
    if (this.#kind === 'index') return `${before}[${this.#segment}]`
    return before === '' ? this.#segment : `${before}.${this.#segment}`
  }
}

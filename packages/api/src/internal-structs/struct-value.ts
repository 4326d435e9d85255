import type { ShownStruct } from './data.ts'

let structForm: ((struct: string, value: unknown) => unknown) | undefined

/** Has structs shown as Go writes them from now on. Whoever tells errors waits for it first: few requests are refused. */
export async function loadStructForms(): Promise<void> {
  if (structForm === undefined) ({ structForm } = await import('./struct-form.ts'))
}

/**
 * A value for an error that upstream has in a struct of its own: it is shown with all the fields of that struct, under their names in Go
 * (field.Error.ErrorBody).
 */
export class StructValue {
  readonly #struct: ShownStruct
  readonly #value: unknown

  constructor(struct: ShownStruct, value: unknown) {
    this.#struct = struct
    this.#value = value
  }

  /** Before the forms are loaded the value is as the API has it. */
  get shown(): unknown {
    return structForm === undefined ? this.#value : structForm(this.#struct, this.#value)
  }
}

/** The value of an error in upstream's struct of that name, or a list of such structs. */
export const structValue = (struct: ShownStruct, value: unknown): StructValue => new StructValue(struct, value)

import { type ApiError, badRequest, goQuoted, isJsonObject, jsonTypeOf } from '@coracle/api'

/** What is said of fields that operations of a JSON patch do not have. */
export function unknownOperationFields(patch: unknown): ReadonlySet<string> {
  const messages = (Array.isArray(patch) ? patch : []).flatMap((operation, index) =>
    isJsonObject(operation)
      ? Object.keys(operation)
          .filter((field) => !operationFields.includes(field))
          .map((field) => `unknown field ${goQuoted(`[${index}].${field}`)}`)
      : [],
  )
  return new Set(messages)
}

const operationFields = ['op', 'path', 'from', 'value']

/** Throws where a JSON patch is not a list of operations with texts for what they do and where: the reader that looks for duplicates sees that first. */
export function checkOperations(patch: unknown): void {
  if (patch === null) return
  if (!Array.isArray(patch)) throw notOperations(`${jsonTypeOf(patch)} into Go value of type []handlers.jsonPatchOp`)
  for (const operation of patch) {
    if (operation === null) continue
    if (!isJsonObject(operation)) {
      throw notOperations(`${jsonTypeOf(operation)} into Go value of type handlers.jsonPatchOp`)
    }
    for (const field of ['op', 'path', 'from']) {
      const found = operation[field] ?? ''
      if (typeof found === 'string') continue
      throw notOperations(`${jsonTypeOf(found)} into Go struct field jsonPatchOp.${field} of type string`)
    }
  }
}

const notOperations = (what: string): ApiError => badRequest(`error decoding patch: json: cannot unmarshal ${what}`)

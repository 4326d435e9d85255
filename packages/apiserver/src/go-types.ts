import { type GoTypes, hasReason } from '@coracle/api'

/** The names of upstream's types. Nobody needs them before something does not decode. */
export async function loadGoTypes(): Promise<GoTypes> {
  return (await import('@coracle/api/go-types')).goTypes
}

/** What `decode` makes of something. Where its words are about a type of upstream's, it says them again with the names of these. */
export function inGoTypes<T>(decode: (goTypes?: GoTypes) => T): T | Promise<T> {
  try {
    return decode()
  } catch (error) {
    if (!hasReason(error, 'BadRequest') || !error.message.includes('json: cannot unmarshal ')) throw error
    return loadGoTypes().then(decode)
  }
}

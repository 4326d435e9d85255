import { type GoTypes, hasReason } from '@coracle/api'

/**
 * What `decode` makes of something. Where its words are about a type of upstream's, what names these types is loaded and it says them again:
 * nobody needs them before.
 */
export function inGoTypes<T>(decode: (goTypes?: GoTypes) => T): T | Promise<T> {
  try {
    return decode()
  } catch (error) {
    if (!hasReason(error, 'BadRequest') || !error.message.includes('json: cannot unmarshal ')) throw error
    return import('@coracle/api/go-types').then(({ goTypes }) => decode(goTypes))
  }
}

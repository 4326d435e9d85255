/** Objects of built-in kinds as programs have them that hold them in structs of Go. Apart from the rest of this package: only clients that print need it. */
export { declaredFields, isHeldByValue, isNullWithoutStruct, isZeroWithoutPort } from './declared-fields.ts'
export { decodedAsStruct, withZeros, writtenByGo } from './zeros.ts'

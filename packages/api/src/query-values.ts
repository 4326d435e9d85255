/**
 * Whether the value of a query says yes, as upstream reads all of them: there without a value means true, and so does anything but
 * `false`, in any case, and `0`.
 */
export const isTrue = (text: string | null | undefined): boolean =>
  text !== undefined && text !== null && text !== '0' && text.toLowerCase() !== 'false'

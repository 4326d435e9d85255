/** As in all queries: there without a value means true. */
export const isTrue = (text: string | null | undefined): boolean =>
  text !== undefined && text !== null && text !== 'false' && text !== '0'

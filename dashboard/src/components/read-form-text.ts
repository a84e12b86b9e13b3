/** What a form's field holds, outer white space cut off. */
export function readFormText(form: HTMLFormElement, name: string): string {
  const value = new FormData(form).get(name)
  return typeof value === 'string' ? value.trim() : ''
}

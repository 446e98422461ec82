"""Prints the options of all declarations of a descriptor set in text format, as Python protobuf (upb) reads them.

usage: options.py SET
"""

import sys

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

with open(sys.argv[1], "rb") as file:
    known = descriptor_pb2.FileDescriptorSet.FromString(file.read())
pool = descriptor_pool.DescriptorPool()
for file in known.file:
    pool.Add(file)
message_factory.GetMessageClassesForFiles([file.name for file in known.file], pool)


def show(kind, name, options):
    """Parses `options` again: its built-in type lacks the extensions of the pool."""
    type = message_factory.GetMessageClass(pool.FindMessageTypeByName(options.DESCRIPTOR.full_name))
    text = text_format.MessageToString(type.FromString(options.SerializeToString()), as_one_line=True)
    if text:
        print(f"{kind} {name}\t{text}")


def show_message(message, name):
    show("message", name, message.options)
    for field in message.field:
        show("field", f"{name}.{field.name}", field.options)
    for oneof in message.oneof_decl:
        show("oneof", f"{name}.{oneof.name}", oneof.options)
    for extension_range in message.extension_range:
        show("range", f"{name} {extension_range.start}", extension_range.options)
    for nested in message.nested_type:
        show_message(nested, f"{name}.{nested.name}")
    for enum in message.enum_type:
        show_enum(enum, f"{name}.{enum.name}")


def show_enum(enum, name):
    show("enum", name, enum.options)
    for value in enum.value:
        show("value", f"{name} {value.name}", value.options)


for file in known.file:
    if file.package == "testopt":
        show("file", file.name, file.options)
        for message in file.message_type:
            show_message(message, f"{file.package}.{message.name}")
        for enum in file.enum_type:
            show_enum(enum, f"{file.package}.{enum.name}")
        for service in file.service:
            show("service", f"{file.package}.{service.name}", service.options)
            for method in service.method:
                show("method", f"{file.package}.{service.name}/{method.name}", method.options)

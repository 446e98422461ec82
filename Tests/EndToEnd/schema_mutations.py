"""Random changes of schemas, with a seed, for the comparison of `rpcurl diff` with `buf breaking`."""

import re
from collections.abc import Iterator
from random import Random

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FieldOptions,
    FileDescriptorProto,
    FileDescriptorSet,
    FileOptions,
    MethodOptions,
)

F = FieldDescriptorProto
SCALARS = [
    kind for kind in F.Type.values() if kind not in (F.TYPE_MESSAGE, F.TYPE_GROUP, F.TYPE_ENUM)
]  # fmt: skip
LARGEST_NUMBER = (1 << 29) - 1
INTEGERS64 = {F.TYPE_INT64, F.TYPE_UINT64, F.TYPE_SINT64, F.TYPE_FIXED64, F.TYPE_SFIXED64}
TEXT_OPTIONS = [
    "java_package", "java_outer_classname", "go_package", "objc_class_prefix", "csharp_namespace", "swift_prefix",
    "php_class_prefix", "php_namespace", "php_metadata_namespace", "ruby_package",
]  # fmt: skip
FLAG_OPTIONS = [
    "java_multiple_files", "cc_generic_services", "java_generic_services", "py_generic_services", "cc_enable_arenas",
    "java_string_check_utf8",
]  # fmt: skip


def messages(of: FileDescriptorProto | DescriptorProto, scope: str) -> Iterator[tuple[str, DescriptorProto]]:
    """The messages with their full names, except entries of maps."""
    for message in of.message_type if isinstance(of, FileDescriptorProto) else of.nested_type:
        if not message.options.map_entry:
            name = f"{scope}.{message.name}"
            yield name, message
            yield from messages(message, name)


def enums(file: FileDescriptorProto) -> list[EnumDescriptorProto]:
    return [*file.enum_type, *(e for _, m in messages(file, "") for e in m.enum_type)]


def is_map(message: DescriptorProto, field: FieldDescriptorProto) -> bool:
    entry = field.type_name.rpartition(".")[2]
    return any(nested.name == entry and nested.options.map_entry for nested in message.nested_type)


def json_name(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def without_message_sets(schema: FileDescriptorSet) -> None:
    """Make each MessageSet another message with extensions: buf refuses them, and the large numbers of their extensions."""
    for file in schema.file:
        for message in [message for _, message in messages(file, "")]:
            message.options.ClearField("message_set_wire_format")
            for numbers in message.extension_range:
                numbers.end = min(numbers.end, LARGEST_NUMBER + 1)
        extensions = [*file.extension, *(field for _, message in messages(file, "") for field in message.extension)]
        for field in extensions:
            if field.number > LARGEST_NUMBER:
                field.number %= LARGEST_NUMBER + 1


class Mutator:
    """Changes a set in place. The result is a valid schema in most cases, and refused by buf in the others."""

    def __init__(self, schema: FileDescriptorSet, names: list[str], seed: int) -> None:
        self.random = Random(seed)
        self.files = [file for file in schema.file if file.name in names]
        self.count = 0

    def run(self, count: int) -> None:
        steps = [getattr(self, name) for name in sorted(dir(self)) if name.startswith("change_")]
        for _ in range(count):
            self.random.choice(steps)(self.random.choice(self.files))

    def new_name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}_new_{self.count}"

    def pick(self, found: list):
        return self.random.choice(found) if found else None

    def message(self, file: FileDescriptorProto) -> DescriptorProto | None:
        return self.pick([message for _, message in messages(file, "") if message.field])

    def plain_field(self, message: DescriptorProto | None) -> FieldDescriptorProto | None:
        """A field that is neither in a oneof nor a map."""
        return message and self.pick(
            [f for f in message.field if not f.HasField("oneof_index") and not is_map(message, f)]
        )

    # Fields

    def change_field_removed(self, file: FileDescriptorProto) -> None:
        message = self.message(file)
        if field := self.plain_field(message):
            if self.random.random() < 0.5:
                message.reserved_range.add(start=field.number, end=field.number + 1)
            if self.random.random() < 0.5:
                message.reserved_name.append(field.name)
            message.field.remove(field)

    def change_field_name(self, file: FileDescriptorProto) -> None:
        if field := self.plain_field(self.message(file)):
            if field.type == F.TYPE_GROUP:
                return
            field.name = self.new_name(field.name)
            if self.random.random() < 0.7:
                field.json_name = json_name(field.name)

    def change_field_number(self, file: FileDescriptorProto) -> None:
        if field := self.plain_field(self.message(file)):
            self.count += 1
            field.number = 400_000 + self.count

    def change_field_type(self, file: FileDescriptorProto) -> None:
        field = self.plain_field(self.message(file))
        if field and field.type in SCALARS:
            field.type = self.random.choice(SCALARS)
            field.ClearField("default_value")
            field.ClearField("options")

    def change_field_label(self, file: FileDescriptorProto) -> None:
        field = self.plain_field(self.message(file))
        if field and field.type != F.TYPE_GROUP:
            labels = [F.LABEL_OPTIONAL, F.LABEL_REPEATED]
            if file.syntax in ("", "proto2"):
                labels.append(F.LABEL_REQUIRED)
            field.label = self.random.choice(labels)
            field.ClearField("default_value")
            field.ClearField("options")

    def change_field_json_name(self, file: FileDescriptorProto) -> None:
        if field := self.plain_field(self.message(file)):
            field.json_name = self.new_name("json")

    def change_field_default(self, file: FileDescriptorProto) -> None:
        field = self.plain_field(self.message(file))
        if not field or file.syntax == "proto3" or field.label != F.LABEL_OPTIONAL:
            return
        if field.options.features.HasField("field_presence"):
            return
        values = {F.TYPE_STRING: ["a", ""], F.TYPE_BYTES: ["\\001", "b"], F.TYPE_BOOL: ["true", "false"]}
        if field.type in SCALARS:
            field.default_value = self.random.choice(values.get(field.type, ["0", "7"]))

    def change_field_option(self, file: FileDescriptorProto) -> None:
        field = self.plain_field(self.message(file))
        if field and field.type in INTEGERS64:
            field.options.jstype = self.random.choice(FieldOptions.JSType.values())
        elif field and field.type in (F.TYPE_STRING, F.TYPE_BYTES):
            field.options.ctype = self.random.choice(FieldOptions.CType.values())

    def change_field_oneof(self, file: FileDescriptorProto) -> None:
        message = self.message(file)
        field = self.plain_field(message)
        if not field or field.label != F.LABEL_OPTIONAL or field.options.features.HasField("field_presence"):
            return
        if not any(f.proto3_optional for f in message.field):
            field.oneof_index = len(message.oneof_decl)
            message.oneof_decl.add(name=self.new_name("choice"))

    def change_map_value(self, file: FileDescriptorProto) -> None:
        entries = [n for _, m in messages(file, "") for n in m.nested_type if n.options.map_entry]
        if (entry := self.pick(entries)) and entry.field[1].type in SCALARS:
            entry.field[1].type = self.random.choice(SCALARS)

    # Messages

    def change_message_removed(self, file: FileDescriptorProto) -> None:
        text = "".join(map(str, self.files))
        used = set(re.findall(r'(?:type_name|input_type|output_type|extendee): "(.*)"', text))
        found = [m for m in file.message_type if f".{file.package}.{m.name}" not in used and not m.nested_type]
        if (message := self.pick(found)) and not message.enum_type:
            file.message_type.remove(message)

    def change_message_added(self, file: FileDescriptorProto) -> None:
        file.message_type.add(name=self.new_name("Added"))

    def change_message_reserved(self, file: FileDescriptorProto) -> None:
        if message := self.message(file):
            start = self.random.choice([300_000, 300_010])
            if not message.reserved_range:
                message.reserved_range.add(start=start, end=start + 20)
            elif self.random.random() < 0.5:
                del message.reserved_range[0]
            if message.reserved_name and self.random.random() < 0.5:
                del message.reserved_name[0]

    def change_message_option(self, file: FileDescriptorProto) -> None:
        if message := self.message(file):
            message.options.no_standard_descriptor_accessor = not message.options.no_standard_descriptor_accessor

    def change_extension(self, file: FileDescriptorProto) -> None:
        if file.extension and self.random.random() < 0.5:
            file.extension.remove(self.random.choice(file.extension))
        elif file.syntax != "proto3" and (message := self.message(file)):
            if not message.extension_range:
                message.extension_range.add(start=500_000, end=500_100)
            elif message.extension_range[-1].start == 500_000:
                message.extension_range[-1].end -= self.random.randrange(1, 20)

    # Enums

    def change_enum_removed(self, file: FileDescriptorProto) -> None:
        text = "".join(map(str, self.files))
        unused = [e for e in file.enum_type if f'type_name: ".{file.package}.{e.name}"' not in text]
        if enum := self.pick(unused):
            file.enum_type.remove(enum)
        else:
            file.enum_type.add(name=self.new_name("Added")).value.add(name=self.new_name("ZERO"), number=0)

    def change_enum_value(self, file: FileDescriptorProto) -> None:
        found = [e for e in enums(file) if len(e.value) > 1]
        if not (enum := self.pick(found)):
            return
        value = self.random.choice(list(enum.value)[1:])
        aliases = [v for v in enum.value if v.number == value.number]
        if any(f'default_value: "{each.name}"' in str(file) for each in aliases):
            return
        if self.random.random() < 0.5:
            value.name = self.new_name(value.name)
            return
        number = value.number
        # The first value stays, for proto3.
        for each in [v for v in aliases if v.name != enum.value[0].name]:
            if self.random.random() < 0.5:
                enum.reserved_name.append(each.name)
            enum.value.remove(each)
        if all(v.number != number for v in enum.value) and self.random.random() < 0.5:
            enum.reserved_range.add(start=number, end=number)
        if len({v.number for v in enum.value}) == len(enum.value):
            enum.options.ClearField("allow_alias")

    # Files

    def change_file_option(self, file: FileDescriptorProto) -> None:
        match self.random.randrange(3):
            case 0:
                setattr(file.options, self.random.choice(TEXT_OPTIONS), self.new_name("text"))
            case 1:
                name = self.random.choice(FLAG_OPTIONS)
                setattr(file.options, name, not getattr(file.options, name))
            case 2:
                file.options.optimize_for = self.random.choice(FileOptions.OptimizeMode.values())

    def change_file_features(self, file: FileDescriptorProto) -> None:
        if file.syntax == "editions":
            features = file.options.features
            name = self.random.choice(["utf8_validation", "message_encoding", "json_format", "enum_type"])
            setattr(features, name, self.random.choice([1, 2] if name != "utf8_validation" else [2, 3]))

    # Services

    def change_method(self, file: FileDescriptorProto) -> None:
        if not (service := self.pick([s for s in file.service if s.method])):
            return
        method = self.random.choice(service.method)
        match self.random.randrange(5):
            case 0:
                service.method.remove(method)
            case 1:
                method.client_streaming = not method.client_streaming
            case 2:
                method.server_streaming = not method.server_streaming
            case 3:
                method.input_type, method.output_type = method.output_type, method.input_type
            case 4:
                method.options.idempotency_level = self.random.choice(MethodOptions.IdempotencyLevel.values())

    def change_service(self, file: FileDescriptorProto) -> None:
        if file.service and self.random.random() < 0.2:
            del file.service[0]
        else:
            file.service.add(name=self.new_name("Added"))
